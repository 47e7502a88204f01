/**
 * What uWebSockets takes from the environment when it is loaded; to be imported before it. Its own limit of 4 KiB holds only for
 * headers that arrive in more than one piece: the same request would pass on a fast network and fail on a slow one.
 */

/** Request line and headers of one request. As many bytes may wait on each connection, without a key, for 10 s. */
const HEAD_BYTES_MAX = 32_768;

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEAD_BYTES_MAX);
