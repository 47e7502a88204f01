/** The options in the address that the browser came with: the router writes them in its own way, which changes long numbers. */
export const arrival = new URLSearchParams(location.search);
