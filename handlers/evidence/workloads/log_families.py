"""What the last lines of a container say, by family: the wordings of client libraries, each with where it is from.

A line proves something only together with a container or a service that is unwell: whoever asks here has looked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from runbooks.linear import compile_linear


class Cause(StrEnum):
    """What a dependency, or the container itself, has against it."""

    CREDENTIALS = "credentials"
    READ_ONLY = "read-only"
    CONNECTIONS = "connections"
    IN_USE = "address-in-use"
    PERMISSION = "permission"
    DNS = "dns"
    PORT = "port"
    CERTIFICATE = "certificate"
    MEMORY = "memory"
    MISSING_VARIABLE = "missing-variable"
    MISSING_FILE = "missing-file"
    TIMEOUT = "timeout"


OF_DEPENDENCY = frozenset(
    {Cause.CREDENTIALS, Cause.READ_ONLY, Cause.CONNECTIONS, Cause.DNS, Cause.PORT, Cause.CERTIFICATE, Cause.TIMEOUT}
)

_WORDINGS: dict[Cause, tuple[str, ...]] = {
    Cause.CREDENTIALS: (
        r"Access denied for user '[^']*'@",  # MySQL 1045 and 1044 (server/share/messages_to_clients.txt)
        r"password authentication failed for user",  # PostgreSQL, auth.c
        r"no pg_hba\.conf entry for host",  # PostgreSQL, auth.c
        r"role \"[^\"]*\" does not exist",  # PostgreSQL, miscinit.c
        r"WRONGPASS invalid username-password pair",  # Redis, acl.c
        r"NOAUTH Authentication required",  # Redis, server.c
        r"ERR invalid password",  # Redis before 6
        r"Authentication failed\. *(?:$|.*Mongo)",  # MongoDB, AuthenticationFailed (18)
        r"MongoServerError: Authentication failed",  # Node driver of MongoDB
        r"SCRAM authentication failed",  # MongoDB, PostgreSQL JDBC
        r"ACCESS_REFUSED - Login was refused",  # RabbitMQ
        r"Login failed for user '[^']*'",  # SQL Server 18456
        r"SASL authentication failed|SaslAuthenticationException",  # Kafka clients
    ),
    Cause.READ_ONLY: (
        r"running with the --(?:super-)?read-only option",  # MySQL 1290
        r"cannot execute [A-Z ]+ in a read-only transaction",  # PostgreSQL 25006
        r"READONLY You can't write against a read only replica",  # Redis
        r"NotWritablePrimary|not master and slaveOk=false|NotPrimaryNoSecondaryOk",  # MongoDB
        r"[Rr]ead-only file system",  # EROFS
    ),
    Cause.CONNECTIONS: (
        r"Too many connections",  # MySQL 1040
        r"sorry, too many clients already",  # PostgreSQL, proc.c
        r"remaining connection slots are reserved",  # PostgreSQL, postinit.c
        r"ERR max number of clients reached",  # Redis, networking.c
        r"has exceeded the 'max_user_connections' resource",  # MySQL 1226
    ),
    Cause.IN_USE: (
        r"[Aa]ddress already in use",  # EADDRINUSE, strerror(3)
        r"EADDRINUSE",  # Node.js
        r"Port [0-9]{1,5} (?:was|is) already in use",  # Spring Boot, Flask
    ),
    Cause.PERMISSION: (
        r"[Pp]ermission denied",  # EACCES, strerror(3)
        r"EACCES",  # Node.js
        r"AccessDeniedException",  # java.nio
        r"[Oo]peration not permitted",  # EPERM
    ),
    Cause.DNS: (
        r"UnknownHostException",  # java.net
        r"no such host",  # Go, net.DNSError
        r"getaddrinfo (?:ENOTFOUND|EAI_AGAIN)",  # Node.js
        r"Name or service not known",  # EAI_NONAME, glibc
        r"Temporary failure in name resolution",  # EAI_AGAIN, glibc
        r"could not translate host name",  # libpq
        r"Could not resolve host",  # curl
        r"Unknown MySQL server host",  # MySQL 2005
        r"lookup [A-Za-z0-9._-]+ on [0-9.:]+: (?:read udp|server misbehaving)",  # Go resolver
        r"DNS resolution failed|Name resolution failure",  # gRPC
        r"bad address '[^']+'",  # BusyBox
    ),
    Cause.PORT: (
        r"[Cc]onnection refused",  # ECONNREFUSED, strerror(3)
        r"ECONNREFUSED",  # Node.js
        r"actively refused it",  # Windows, WSAECONNREFUSED
    ),
    Cause.CERTIFICATE: (
        r"x509: certificate",  # Go, crypto/x509
        r"CERTIFICATE_VERIFY_FAILED",  # OpenSSL in Python
        r"PKIX path (?:building|validation) failed",  # Java
        r"unable to verify the first certificate|certificate has expired",  # Node.js, OpenSSL
        r"The remote certificate is invalid",  # .NET
    ),
    Cause.MEMORY: (
        r"java\.lang\.OutOfMemoryError",  # JVM
        r"JavaScript heap out of memory",  # V8
        r"fatal error: runtime: out of memory",  # Go
        r"[Cc]annot allocate memory",  # ENOMEM
        r"MemoryError$",  # Python
    ),
    Cause.MISSING_VARIABLE: (
        r"environment variable \"?[A-Za-z_][A-Za-z0-9_]*\"? (?:is )?not set",  # Google's shops, many services in Go
        r"KeyError: '[A-Z][A-Z0-9_]+'",  # Python, os.environ
        r"Could not resolve placeholder '",  # Spring
        r"required (?:key|environment variable) [A-Z][A-Z0-9_]+ missing",  # envconfig for Go
    ),
    Cause.MISSING_FILE: (
        r"[Nn]o such file or directory",  # ENOENT, strerror(3)
        r"ENOENT",  # Node.js
        r"FileNotFoundException",  # Java, .NET
        r"Cannot find module '",  # Node.js
        r"ModuleNotFoundError: No module named",  # Python
        r"Unable to access jarfile",  # java -jar
    ),
    Cause.TIMEOUT: (
        r"i/o timeout",  # Go, net
        r"[Cc]onnect(?:ion)? timed out",  # ETIMEDOUT, strerror(3); java.net
        r"ETIMEDOUT",  # Node.js
        r"SocketTimeoutException",  # java.net
        r"ConnectTimeout",  # requests for Python, StackExchange.Redis
        r"no connection became available",  # StackExchange.Redis
        r"UnableToConnect",  # StackExchange.Redis
        r"ServerSelectionTimeoutError|MongoTimeoutException",  # MongoDB drivers
        r"context deadline exceeded",  # Go
        r"upstream connect error|upstream request timeout",  # Envoy
    ),
}
_FAMILIES = {cause: compile_linear("|".join(f"(?:{item})" for item in told)) for cause, told in _WORDINGS.items()}
_ANY = compile_linear("|".join(f"(?:{item})" for told in _WORDINGS.values() for item in told))

_HOST = r"(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)"
_HOSTS = tuple(
    compile_linear(pattern)
    for pattern in (
        rf"lookup {_HOST}(?: on |:)",  # Go
        rf"UnknownHostException: {_HOST}",  # Java
        rf"getaddrinfo (?:ENOTFOUND|EAI_AGAIN) {_HOST}",  # Node.js
        rf"could not translate host name \"{_HOST}\"",  # libpq
        rf"connection to server at \"{_HOST}\".{{0,60}}port (?P<port>[0-9]{{1,5}})",  # libpq
        rf"MySQL server (?:on|host) '{_HOST}(?::(?P<port>[0-9]{{1,5}}))?'",  # MySQL 2003 and 2005
        rf"Error [0-9-]+ connecting to {_HOST}:(?P<port>[0-9]{{1,5}})",  # redis-py
        rf"dial (?:tcp|udp) {_HOST}:(?P<port>[0-9]{{1,5}})",  # Go
        rf"connect (?:ECONNREFUSED|ETIMEDOUT) {_HOST}:(?P<port>[0-9]{{1,5}})",  # Node.js
        rf"ipv4:{_HOST}:(?P<port>[0-9]{{1,5}})",  # gRPC
        rf"Connection refused: {_HOST}(?:/[0-9.]+)?:(?P<port>[0-9]{{1,5}})",  # Netty
        rf"host='{_HOST}', port=(?P<port>[0-9]{{1,5}})",  # urllib3
        rf"Could not resolve host: {_HOST}",  # curl
        rf"on {_HOST}:(?P<port>[0-9]{{1,5}})/",  # StackExchange.Redis
        rf"bad address '{_HOST}(?::(?P<port>[0-9]{{1,5}}))?'",  # BusyBox
    )
)
_PRODUCTS = (
    ("MySQL", ("mysql", "mariadb", "access denied for user '", "max_user_connections"), 3306),
    (
        "PostgreSQL",
        (
            "postgres",
            "psql",
            "libpq",
            "pg_hba",
            "password authentication failed",
            "too many clients",
            "connection slots",
        ),
        5432,
    ),
    ("Redis", ("redis", "jedis", "lettuce", "wrongpass", "noauth"), 6379),
    ("MongoDB", ("mongo",), 27017),
    ("RabbitMQ", ("rabbitmq", "amqp"), 5672),
    ("Kafka", ("kafka",), 9092),
    ("SQL Server", ("sqlserver", "sqlclient"), 1433),
)
_OWN = compile_linear(r"\[Note\]|'@'(?:::1|localhost|127\.0\.0\.1)'|localhost|127\.0\.0\.1|\[::1\]")
"""A server that turns somebody away (MySQL notes it), and what a container says of itself."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a container says last of what stops it."""

    cause: Cause
    line: str
    host: str = ""
    port: int = 0
    product: str = ""
    product_port: int = 0


def said(lines: Iterable[str]) -> Said | None:
    """The most telling of the last lines, by the order of the causes; of each, the last one."""
    found: dict[Cause, str] = {}
    told = [line for line in lines if _ANY.search(line) and not _OWN.search(line)]
    for line in told:
        for cause, family in _FAMILIES.items():
            if family.search(line):
                found[cause] = line
                break
    ordered = [cause for cause in Cause if cause in found]
    if not ordered:
        return None
    cause = ordered[0]
    host, port = _where(found[cause], told)
    product, product_port = _product(found[cause], lines)
    return Said(cause, found[cause].strip(), host, port, product, product_port)


def _where(line: str, told: list[str]) -> tuple[str, int]:
    """Host and port that a line names, or the line before it that does."""
    for item in (line, *reversed(told)):
        for pattern in _HOSTS:
            match = pattern.search(item)
            if match:
                return match["host"].rstrip("."), int(match.groupdict().get("port") or 0)
    return "", 0


def _product(line: str, lines: Iterable[str]) -> tuple[str, int]:
    """Whose client speaks: by the line itself, else by those around it."""
    for text in (line.lower(), *(line.lower() for line in lines)):
        for name, words, port in _PRODUCTS:
            if any(word in text for word in words):
                return name, port
    return "", 0
