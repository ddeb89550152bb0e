"""The formats that providers publish for their tokens, so that anybody can recognise one: prefix, alphabet, length.

As a rule a token has a prefix, which is looked for first; only where it stands is the whole format compared. Lengths
are the published ones or a little less, because a token that was cut is still half a token. Nothing is here because it
merely looks random: a commit, a digest and an id look random, too.

`source` says who publishes it: the provider's own documentation, or one of the two collections that everybody uses,
the rules of gitleaks (github.com/gitleaks/gitleaks) and GitHub's list of supported secret scanning patterns.
"""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    kind: str
    prefixes: tuple[str, ...]
    rest: str
    """What follows the prefix, as an RE2 pattern."""
    source: str


def _format(kind: str, prefixes: str, rest: str, source: str) -> Format:
    return Format(kind, tuple(prefixes.split()), rest, source)


_GITLEAKS = "gitleaks"
_GITHUB = "GitHub secret scanning"
_ANY = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[A-Fa-f0-9]"

FORMATS: tuple[Format, ...] = (
    _format("jwt", "eyJ", _ANY + r"{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}", "RFC 7519, RFC 7516"),
    # Code and source control
    _format("github", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM + "{16,}", "GitHub: about authentication"),
    _format("github", "github_pat_", "[A-Za-z0-9_]{16,}", "GitHub: about authentication"),
    _format(
        "gitlab",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- gloas- glwt-",
        "[A-Za-z0-9_.-]{16,}",
        "GitLab: token overview",
    ),
    _format("gitlab", "GR1348941", _ANY + "{16,}", "GitLab: token overview"),
    _format("bitbucket", "ATBB ATCTT3", "[A-Za-z0-9_=-]{24,}", _GITHUB),
    _format("atlassian", "ATATT3", "[A-Za-z0-9_=-]{30,}", _GITLEAKS),
    _format("sourcegraph", "sgp_", r"(?:[a-f0-9]{16}_|local_)?" + _HEX + "{32,}", _GITLEAKS),
    # Build and package registries
    _format("docker", "dckr_pat_ dckr_oat_", _ANY + "{20,}", "Docker: access tokens"),
    _format("npm", "npm_", _ALNUM + "{30,}", "npm: about access tokens"),
    _format("pypi", "pypi-", _ANY + "{30,}", "PyPI: API tokens"),
    _format("rubygems", "rubygems_", _HEX + "{40,}", _GITLEAKS),
    _format("nuget", "oy2", "[a-z0-9]{43}", _GITHUB),
    _format("clojars", "CLOJARS_", _ALNUM + "{50,}", _GITLEAKS),
    _format("crates", "cio", _ALNUM + "{32}", _GITHUB),
    _format("artifactory", "AKCp", _ALNUM + "{60,}", _GITLEAKS),
    _format("artifactory", "cmVmd", _ALNUM + "{55,}", _GITLEAKS),
    _format("circleci", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{30,}", _GITHUB),
    _format("buildkite", "bkua_", "[a-z0-9]{32,}", _GITHUB),
    _format("octopus", "API-", "[A-Z0-9]{25,}", _GITLEAKS),
    # Clouds and platforms
    _format("aws", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}", "AWS: IAM identifiers"),
    _format("google", "AIza", _ANY + "{30,}", "Google Cloud: API keys"),
    _format("google", "GOCSPX-", _ANY + "{20,}", _GITHUB),
    _format("google", "ya29.", r"[A-Za-z0-9_.-]{20,}", "Google: OAuth 2.0"),
    _format("google", "1//0", _ANY + "{30,}", "Google: OAuth 2.0 refresh tokens"),
    _format(
        "refresh-token", "0.A 1.A", r"[A-Za-z0-9_-]{20,}\.?[A-Za-z0-9_-]*AgAB[A-Za-z0-9_-]{20,}", "Entra ID answers"
    ),
    _format("digitalocean", "dop_v1_ doo_v1_ dor_v1_", _HEX + "{60,}", "DigitalOcean: API"),
    _format("alibaba", "LTAI", _ALNUM + "{16,}", _GITLEAKS),
    _format("openshift", "sha256~", _ANY + "{40,}", _GITLEAKS),
    _format("databricks", "dapi", r"[a-f0-9]{32}(?:-\d)?", "Databricks: personal access tokens"),
    _format("fly-io", "fo1_ fm2_", "[A-Za-z0-9_+/=-]{40,}", _GITLEAKS),
    _format("heroku", "HRKU-", _ANY + "{30,}", _GITLEAKS),
    _format("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_=.-]{30,}", _GITLEAKS),
    _format("supabase", "sbp_", _HEX + "{40}", _GITHUB),
    _format("vercel", "vcp_ vci_ vca_ vcr_ vck_", _ALNUM + "{24,}", _GITHUB),
    _format("scalingo", "tk-us-", _ANY + "{40,}", _GITLEAKS),
    _format("cloudflare", "v1.0-", _HEX + "{24}-" + _HEX + "{100,}", _GITLEAKS),
    _format("tailscale", "tskey-", r"[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}", _GITHUB),
    # Infrastructure and observability
    _format("vault", "hvs. hvb. hvr.", _ANY + "{20,}", "HashiCorp Vault: tokens"),
    _format("pulumi", "pul-", _HEX + "{40}", _GITLEAKS),
    _format("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "[A-Za-z0-9_.]{40,}", _GITLEAKS),
    _format("1password", "ops_eyJ", "[A-Za-z0-9+/=_-]{100,}", _GITLEAKS),
    _format("1password", "A3-", "[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}", _GITLEAKS),
    _format("age", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}", "age"),
    _format("grafana", "glsa_", _ALNUM + "{32}_" + _HEX + "{8}", "Grafana: service accounts"),
    _format("grafana", "glc_", "[A-Za-z0-9+/]{32,}={0,3}", _GITLEAKS),
    _format("dynatrace", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{60,}", "Dynatrace: access tokens"),
    _format("new-relic", "NRAK- NRII- NRJS-", _ANY + "{19,}", "New Relic: API keys"),
    _format("sentry", "sntrys_", "[A-Za-z0-9+/=_]{30,}", "Sentry: auth tokens"),
    _format("sentry", "sntryu_", _HEX + "{60,}", "Sentry: auth tokens"),
    _format("prefect", "pnu_", _ALNUM + "{36}", _GITLEAKS),
    _format("posthog", "phx_", "[A-Za-z0-9_]{40,}", _GITHUB),
    _format("launchdarkly", "sdk- mob-", "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}", _GITHUB),
    _format("rootly", "rootly_", _HEX + "{60,}", _GITHUB),
    _format("snyk", "snyk_uat.", r"[A-Za-z0-9_.-]{20,}", _GITHUB),
    _format("infracost", "ico-", _ALNUM + "{32}", _GITLEAKS),
    # People, chat and mail
    _format(
        "slack", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", "[A-Za-z0-9%-]{8,}", "Slack: tokens"
    ),
    _format("slack", "xoxe.xox", "[bp]-[A-Za-z0-9-]{8,}", "Slack: token rotation"),
    _format("sendgrid", "SG.", r"[\w-]{16,}\.[\w-]{16,}", "SendGrid: API keys"),
    _format("brevo", "xkeysib- xsmtpsib-", _HEX + r"{60,}-[A-Za-z0-9]{16}", _GITLEAKS),
    _format("mailgun", "key-", _HEX + "{32}", _GITLEAKS),
    _format("twilio", "SK", "[a-f0-9]{32}", "Twilio: API keys"),
    _format("notion", "ntn_ secret_", _ALNUM + "{40,}", _GITLEAKS),
    _format("linear", "lin_api_ lin_oauth_", _ALNUM + "{32,}", _GITLEAKS),
    _format("postman", "PMAK-", _HEX + "{24}-" + _HEX + "{34}", _GITLEAKS),
    _format("figma", "figd_", _ANY + "{30,}", _GITHUB),
    _format("airtable", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}", _GITHUB),
    _format("contentful", "CFPAT-", _ANY + "{40,}", _GITHUB),
    _format("readme", "rdme_", "[a-z0-9]{60,}", _GITLEAKS),
    # Payment and shops
    _format(
        "stripe", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ sk_prod_ rk_prod_", _ALNUM + "{10,}", "Stripe: keys"
    ),
    _format("stripe", "whsec_", "[A-Za-z0-9+/=]{20,}", "Stripe: webhooks"),
    _format("shopify", "shpat_ shpca_ shppa_ shpss_", _HEX + "{32}", "Shopify: access tokens"),
    _format("square", "sq0atp- sq0csp-", _ANY + "{22,}", _GITLEAKS),
    _format("shippo", "shippo_live_ shippo_test_", _HEX + "{40}", _GITLEAKS),
    _format("easypost", "EZAK EZTK", _ALNUM + "{54}", _GITLEAKS),
    _format("flutterwave", "FLWSECK-", "[A-Za-z0-9]{12,}(?:-X)?", _GITLEAKS),
    _format("flutterwave", "FLWSECK_TEST-", "[A-Za-z0-9]{12,}(?:-X)?", _GITLEAKS),
    # Models
    _format("api-key", "sk-", r"(?:[a-z0-9]+-)*[A-Za-z0-9_]{20,}[A-Za-z0-9_-]*", "OpenAI, Anthropic"),
    _format("hugging-face", "hf_", _ALNUM + "{30,}", "Hugging Face: user access tokens"),
    _format("perplexity", "pplx-", _ALNUM + "{40,}", _GITLEAKS),
    _format("groq", "gsk_", _ALNUM + "{40,}", _GITHUB),
    _format("replicate", "r8_", _ALNUM + "{37,}", _GITHUB),
    _format("xai", "xai-", _ALNUM + "{60,}", _GITHUB),
    _format("nvidia", "nvapi-", _ANY + "{50,}", _GITHUB),
    _format("langsmith", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}", _GITLEAKS),
    # Stored passwords
    _format("password-hash", "$2a$ $2b$ $2y$", r"\d\d\$[A-Za-z0-9./]{40,}", "bcrypt"),
    _format("password-hash", "$1$ $5$ $6$ $y$", r"[A-Za-z0-9./=,$]{20,}", "crypt(5)"),
    _format("password-hash", "$argon2i$ $argon2d$ $argon2id$", r"[A-Za-z0-9+/=,$]{20,}", "RFC 9106"),
)
