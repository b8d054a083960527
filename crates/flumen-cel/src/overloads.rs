//! What every function takes and yields.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::{
    Dialect,
    types::{Known, Type},
    value::{DURATION, TIMESTAMP},
};

/// One way to call a function.
#[derive(Debug)]
pub(crate) struct Overload {
    /// Whether the first parameter stands before the name of the function.
    pub is_method: bool,
    pub parameters: Vec<Type>,
    pub result: Type,
}

type Table = BTreeMap<&'static str, Vec<Overload>>;

/// The ways to call a function; `None` if there is no such function.
pub(crate) fn of(name: &str, dialect: Dialect) -> Option<&'static [Overload]> {
    static FLUX_TABLE: LazyLock<Table> = LazyLock::new(|| table(&[SIGNATURES, FLUX]));
    static KUBERNETES_TABLE: LazyLock<Table> = LazyLock::new(|| table(&[SIGNATURES, KUBERNETES]));
    let table = match dialect {
        Dialect::Flux => &FLUX_TABLE,
        Dialect::Kubernetes => &KUBERNETES_TABLE,
    };
    table.get(name).map(Vec::as_slice)
}

fn table(texts: &[&'static str]) -> Table {
    let mut table = Table::new();
    for (name, overloads) in texts.iter().flat_map(|text| text.lines()).filter_map(line) {
        table.entry(name).or_default().extend(overloads);
    }
    table
}

impl Overload {
    /// The same with open types of its own in the place of `A` and `B`.
    pub(crate) fn instantiate(&self, known: &mut Known) -> (Vec<Type>, Type) {
        fn with(of: &Type, letters: &mut [Option<Type>; 2], known: &mut Known) -> Type {
            match of {
                Type::Open(letter) => letters[*letter].get_or_insert_with(|| known.open()).clone(),
                other => other.rebuilt(&mut |inner| with(inner, letters, known)),
            }
        }
        let mut letters = [None, None];
        let parameters = self.parameters.iter().map(|it| with(it, &mut letters, known)).collect();
        (parameters, with(&self.result, &mut letters, known))
    }
}

/// A function to a line. What stands before a dot is what the function is called on.
const SIGNATURES: &str = "\
_?_:_ = (bool, A, A) A
!_ = (bool) bool
-_ = (int) int | (double) double
_==_ = (A, A) bool
_!=_ = (A, A) bool
_+_ = (bytes, bytes) bytes | (double, double) double | (duration, duration) duration \
| (duration, timestamp) timestamp | (timestamp, duration) timestamp | (int, int) int \
| (list(A), list(A)) list(A) | (string, string) string | (uint, uint) uint
_-_ = (double, double) double | (duration, duration) duration | (int, int) int \
| (timestamp, duration) timestamp | (timestamp, timestamp) duration | (uint, uint) uint
_*_ = (double, double) double | (int, int) int | (uint, uint) uint
_/_ = (double, double) double | (int, int) int | (uint, uint) uint
_%_ = (int, int) int | (uint, uint) uint
_<_ = ORDER
_<=_ = ORDER
_>_ = ORDER
_>=_ = ORDER
_[_] = (list(A), int) A | (map(A, B), A) B | (optional(list(A)), int) optional(A) \
| (optional(map(A, B)), A) optional(B)
_[?_] = (list(A), int) optional(A) | (map(A, B), A) optional(B) \
| (optional(list(A)), int) optional(A) | (optional(map(A, B)), A) optional(B)
@in = (A, list(A)) bool | (A, map(A, B)) bool
@not_strictly_false = (bool) bool
size = (string) int | (bytes) int | (list(A)) int | (map(A, B)) int | string.() int | bytes.() int \
| list(A).() int | map(A, B).() int
dyn = (A) dyn
type = (A) type(A)
bool = (bool) bool | (string) bool
bytes = (bytes) bytes | (string) bytes
double = (double) double | (int) double | (string) double | (uint) double
duration = (duration) duration | (int) duration | (string) duration
int = (int) int | (double) int | (duration) int | (string) int | (timestamp) int | (uint) int
string = (string) string | (bool) string | (bytes) string | (double) string | (duration) string \
| (int) string | (timestamp) string | (uint) string
timestamp = (timestamp) timestamp | (int) timestamp | (string) timestamp
uint = (uint) uint | (double) uint | (int) uint | (string) uint
contains = string.(string) bool
endsWith = string.(string) bool
startsWith = string.(string) bool
matches = (string, string) bool | string.(string) bool
getFullYear = timestamp.() int | timestamp.(string) int
getMonth = timestamp.() int | timestamp.(string) int
getDayOfYear = timestamp.() int | timestamp.(string) int
getDayOfMonth = timestamp.() int | timestamp.(string) int
getDate = timestamp.() int | timestamp.(string) int
getDayOfWeek = timestamp.() int | timestamp.(string) int
getHours = timestamp.() int | timestamp.(string) int | duration.() int
getMinutes = timestamp.() int | timestamp.(string) int | duration.() int
getSeconds = timestamp.() int | timestamp.(string) int | duration.() int
getMilliseconds = timestamp.() int | timestamp.(string) int | duration.() int
optional.of = (A) optional(A)
optional.ofNonZeroValue = (A) optional(A)
optional.none = () optional(A)
value = optional(A).() A
hasValue = optional(A).() bool
or = optional(A).(optional(A)) optional(A)
orValue = optional(A).(A) A
charAt = string.(int) string
indexOf = string.(string) int | string.(string, int) int
lastIndexOf = string.(string) int | string.(string, int) int
join = list(string).() string | list(string).(string) string
lowerAscii = string.() string
upperAscii = string.() string
replace = string.(string, string) string | string.(string, string, int) string
split = string.(string) list(string) | string.(string, int) list(string)
substring = string.(int) string | string.(int, int) string
trim = string.() string
format = string.(list(dyn)) string
strings.quote = (string) string
sets.contains = (list(A), list(A)) bool
sets.equivalent = (list(A), list(A)) bool
sets.intersects = (list(A), list(A)) bool";

/// Further functions that Flux has.
const FLUX: &str = "\
reverse = string.() string
base64.encode = (bytes) string
base64.decode = (string) bytes";

/// Further functions that Kubernetes has.
const KUBERNETES: &str = "\
url = (string) URL
isURL = (string) bool
getScheme = URL.() string
getHost = URL.() string
getHostname = URL.() string
getPort = URL.() string
getEscapedPath = URL.() string
getQuery = URL.() map(string, list(string))
find = string.(string) string
findAll = string.(string) list(string) | string.(string, int) list(string)
isSorted = list(int).() bool | list(uint).() bool | list(double).() bool | list(bool).() bool \
| list(duration).() bool | list(timestamp).() bool | list(string).() bool | list(bytes).() bool
sum = list(int).() int | list(uint).() uint | list(double).() double | list(duration).() duration
max = list(int).() int | list(uint).() uint | list(double).() double | list(bool).() bool \
| list(duration).() duration | list(timestamp).() timestamp | list(string).() string \
| list(bytes).() bytes
min = list(int).() int | list(uint).() uint | list(double).() double | list(bool).() bool \
| list(duration).() duration | list(timestamp).() timestamp | list(string).() string \
| list(bytes).() bytes
indexOf = list(A).(A) int
lastIndexOf = list(A).(A) int
slice = list(A).(int, int) list(A)
flatten = list(list(A)).() list(A) | list(dyn).(int) list(dyn)
distinct = list(A).() list(A)
reverse = list(A).() list(A)
first = list(A).() optional(A)
last = list(A).() optional(A)
lists.range = (int) list(int)
sort = list(int).() list(int) | list(uint).() list(uint) | list(double).() list(double) \
| list(bool).() list(bool) | list(duration).() list(duration) \
| list(timestamp).() list(timestamp) | list(string).() list(string) | list(bytes).() list(bytes)
quantity = (string) Quantity
isQuantity = (string) bool
sign = (Quantity) int
isGreaterThan = Quantity.(Quantity) bool | Semver.(Semver) bool
isLessThan = Quantity.(Quantity) bool | Semver.(Semver) bool
compareTo = Quantity.(Quantity) int | Semver.(Semver) int
asApproximateFloat = Quantity.() double
asInteger = Quantity.() int
isInteger = Quantity.() bool
add = Quantity.(Quantity) Quantity | Quantity.(int) Quantity
sub = Quantity.(Quantity) Quantity | Quantity.(int) Quantity
ip = (string) IP | CIDR.() IP
isIP = (string) bool
ip.isCanonical = (string) bool
family = IP.() int
isUnspecified = IP.() bool
isLoopback = IP.() bool
isLinkLocalMulticast = IP.() bool
isLinkLocalUnicast = IP.() bool
isGlobalUnicast = IP.() bool
cidr = (string) CIDR
isCIDR = (string) bool
containsIP = CIDR.(string) bool | CIDR.(IP) bool
containsCIDR = CIDR.(string) bool | CIDR.(CIDR) bool
prefixLength = CIDR.() int
masked = CIDR.() CIDR
string = (IP) string | (CIDR) string
format.named = (string) optional(Format)
format.dns1123Label = () Format
format.dns1123Subdomain = () Format
format.dns1035Label = () Format
format.qualifiedName = () Format
format.dns1123LabelPrefix = () Format
format.dns1123SubdomainPrefix = () Format
format.dns1035LabelPrefix = () Format
format.labelValue = () Format
format.uri = () Format
format.uuid = () Format
format.byte = () Format
format.date = () Format
format.datetime = () Format
validate = Format.(string) optional(list(string))
semver = (string) Semver | (string, bool) Semver
isSemver = (string) bool | (string, bool) bool
major = Semver.() int
minor = Semver.() int
patch = Semver.() int
path = Authorizer.(string) PathCheck
group = Authorizer.(string) GroupCheck
serviceAccount = Authorizer.(string, string) Authorizer
resource = GroupCheck.(string) ResourceCheck
subresource = ResourceCheck.(string) ResourceCheck
namespace = ResourceCheck.(string) ResourceCheck
name = ResourceCheck.(string) ResourceCheck
fieldSelector = ResourceCheck.(string) ResourceCheck
labelSelector = ResourceCheck.(string) ResourceCheck
check = PathCheck.(string) Decision | ResourceCheck.(string) Decision
allowed = Decision.() bool
reason = Decision.() string
errored = Decision.() bool
error = Decision.() string";

/// What can be put in order, numbers also with numbers of another type.
const ORDER: &str = "(bool, bool) bool | (int, int) bool | (int, double) bool | (int, uint) bool \
| (uint, uint) bool | (uint, double) bool | (uint, int) bool | (double, double) bool \
| (double, int) bool | (double, uint) bool | (string, string) bool | (bytes, bytes) bool \
| (timestamp, timestamp) bool | (duration, duration) bool";

fn line(line: &'static str) -> Option<(&'static str, Vec<Overload>)> {
    let (name, signatures) = line.split_once(" = ")?;
    let signatures = if signatures == "ORDER" { ORDER } else { signatures };
    let overloads = signatures.split(" | ").map(overload).collect::<Option<Vec<_>>>()?;
    Some((name, overloads))
}

fn overload(text: &str) -> Option<Overload> {
    let mut rest = text;
    let mut parameters = Vec::new();
    let is_method = !rest.starts_with('(');
    if is_method {
        parameters.push(read_type(&mut rest)?);
        rest = rest.strip_prefix('.')?;
    }
    rest = rest.strip_prefix('(')?;
    while !rest.starts_with(')') {
        parameters.push(read_type(&mut rest)?);
        rest = rest.strip_prefix(", ").unwrap_or(rest);
    }
    rest = rest.strip_prefix(") ")?;
    Some(Overload { is_method, parameters, result: read_type(&mut rest)? })
}

fn read_type(rest: &mut &str) -> Option<Type> {
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    let mut parameter = |opening: &str| {
        *rest = rest.strip_prefix(opening)?;
        read_type(rest)
    };
    let read = match name {
        "A" => return Some(Type::Open(0)),
        "B" => return Some(Type::Open(1)),
        "list" => Type::list(parameter("(")?),
        "optional" => Type::optional(parameter("(")?),
        "type" => Type::Named(Box::new(parameter("(")?)),
        "map" => Type::map(parameter("(")?, parameter(", ")?),
        other => return named(other),
    };
    *rest = rest.strip_prefix(')')?;
    Some(read)
}

/// A type without parameters.
fn named(name: &str) -> Option<Type> {
    Some(match name {
        "dyn" => Type::Dyn,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::Text,
        "bytes" => Type::Bytes,
        "timestamp" => Type::Timestamp,
        "duration" => Type::Duration,
        "URL" => Type::Library("kubernetes.URL"),
        "Quantity" => Type::Library("kubernetes.Quantity"),
        "Semver" => Type::Library("kubernetes.Semver"),
        "Format" => Type::Library("kubernetes.NamedFormat"),
        "IP" => Type::Library("net.IP"),
        "CIDR" => Type::Library("net.CIDR"),
        "Authorizer" => Type::AUTHORIZER,
        "PathCheck" => Type::Library("kubernetes.authorization.PathCheck"),
        "GroupCheck" => Type::Library("kubernetes.authorization.GroupCheck"),
        "ResourceCheck" => Type::RESOURCE_CHECK,
        "Decision" => Type::Library("kubernetes.authorization.Decision"),
        _ => return None,
    })
}

/// The type that a name in an expression stands for.
pub(crate) fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "null_type" => Type::Null,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "optional_type" => Type::optional(Type::Dyn),
        "type" => Type::Named(Box::new(Type::Dyn)),
        TIMESTAMP => Type::Timestamp,
        DURATION => Type::Duration,
        "dyn" | "timestamp" | "duration" | "URL" | "Quantity" | "Semver" | "Format" | "IP"
        | "CIDR" | "Authorizer" | "PathCheck" | "GroupCheck" | "ResourceCheck" | "Decision" => {
            return None;
        }
        "net.IP" => Type::Library("net.IP"),
        "net.CIDR" => Type::Library("net.CIDR"),
        other => return named(other),
    })
}

#[cfg(test)]
mod tests {
    use super::{Dialect, FLUX, KUBERNETES, SIGNATURES, of};

    #[test]
    fn every_line_of_the_table_is_understood() {
        for (dialect, own) in [(Dialect::Flux, FLUX), (Dialect::Kubernetes, KUBERNETES)] {
            for line in SIGNATURES.lines().chain(own.lines()) {
                let (name, signatures) = line.split_once(" = ").expect("a name");
                let count = signatures.split(" | ").count();
                assert!(of(name, dialect).is_some_and(|it| it.len() >= count), "{line}");
            }
        }
        assert!(of("quantity", Dialect::Flux).is_none());
    }
}
