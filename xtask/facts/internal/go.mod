module flumen.example/xtask/facts/internal

go 1.25.0
