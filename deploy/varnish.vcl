# Varnish in front of Curd: it keeps reads of the catalogue with publishable keys until "curd edge run" purges them.
# Needs Varnish 6 or 7 with the module xkey (Debian: varnish, varnish-modules). docs/edge-caching.md describes it.
vcl 4.1;

import std;
import xkey;

backend curd {
    .host = "127.0.0.1";
    .port = "8080";
    # The purger purges again after 5 seconds: a response from before a change must have arrived by then.
    .first_byte_timeout = 4s;
    .between_bytes_timeout = 4s;
    .probe = {
        .url = "/readyz";
        .interval = 2s;
        .timeout = 1s;
        .window = 3;
        .threshold = 2;
        .initial = 2;
    }
}

# A backend of its own for requests that are not cached: uploads, long polls and streams take longer.
backend curd_uncached {
    .host = "127.0.0.1";
    .port = "8080";
    .first_byte_timeout = 120s;
    .between_bytes_timeout = 120s;
}

# From where "curd edge run" sends purges.
acl purgers {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    set req.backend_hint = curd_uncached;

    if (req.method == "PURGE") {
        # A proxy on this machine has its address too. It states the client in X-Forwarded-For, before what Varnish adds.
        if (client.ip !~ purgers || req.http.X-Forwarded-For ~ ",") {
            return (synth(403));
        }
        set req.http.n-gone = xkey.purge(req.http.xkey-purge);
        return (synth(200, "Purged " + req.http.n-gone));
    }

    # Curd counts the client IP in X-Forwarded-For, which Varnish has set: CURD_TRUSTED_PROXIES names this machine.
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    if (req.http.Authorization || req.http.Cookie || req.http.Dry-Run) {
        return (pass);
    }
    # One publishable key, in the header or in the URL. The key is a part of what is looked up, see vcl_hash.
    if (req.http.X-API-Key) {
        if (req.http.X-API-Key !~ "^pk_(live|test)_" || req.url ~ "[?&]key=") {
            return (pass);
        }
    } else if (req.url !~ "^[^?]*\?(.*&)?key=pk_(live|test)_") {
        return (pass);
    }
    # Long polls wait for a change.
    if (req.url ~ "[?&]wait=") {
        return (pass);
    }

    set req.backend_hint = curd;
    # Responses that can be cached have one of two forms of errors; browsers send many values of Accept.
    if (req.http.Accept ~ "application/problem\+json") {
        set req.http.Accept = "application/problem+json";
    } else {
        unset req.http.Accept;
    }
    # While Curd responds, nothing is older than s-maxage. While it does not, a page may be older.
    if (std.healthy(req.backend_hint)) {
        set req.grace = 0s;
    }
    return (hash);
}

sub vcl_hash {
    # Pages of a key that is unknown, revoked or of another origin are never read from the cache of another key.
    hash_data(req.http.X-API-Key);
    hash_data(req.url);
    if (req.http.Host) {
        hash_data(req.http.Host);
    }
    return (lookup);
}

sub vcl_backend_response {
    if (beresp.http.Cache-Control ~ "(?i)\bpublic\b" && beresp.http.Surrogate-Key) {
        set beresp.http.xkey = beresp.http.Surrogate-Key;
        return (deliver);
    }
    # Errors, and all that is not public. The next request asks Curd again, and does not wait for others.
    set beresp.uncacheable = true;
    set beresp.ttl = 1s;
    return (deliver);
}

sub vcl_deliver {
    unset resp.http.xkey;
    unset resp.http.Surrogate-Key;
    unset resp.http.Cache-Tag;
    # For browsers: revalidate before each use. s-maxage is for this cache, which the purger purges.
    if (resp.http.Cache-Control ~ "\bpublic\b") {
        set resp.http.Cache-Control = "public, max-age=0";
    }
    if (obj.hits > 0) {
        set resp.http.X-Cache = "hit";
    } else {
        set resp.http.X-Cache = "miss";
    }
}
