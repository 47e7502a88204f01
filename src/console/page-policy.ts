/** What a browser may do with a page of the console. */

/** Only what the page brings with its nonce runs, and what that loads; nothing of another host is asked for anything. */
export function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    // Files of the service, and what the components' library writes for the theme.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    // Forms are sent by the program, and none by the browser itself.
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** A year. Browsers heed it over TLS alone. */
export const STRICT_TRANSPORT: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=31536000',
};
