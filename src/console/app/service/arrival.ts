/** Query string with which the page was opened. The router rewrites it, which would change long numbers. */
export const arrival = new URLSearchParams(location.search);
