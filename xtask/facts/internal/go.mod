module flumen.internal/facts/internal

go 1.25
