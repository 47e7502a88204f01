/** What the page's policy lets styles in by that are written as the page runs. */
export const NONCE = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
