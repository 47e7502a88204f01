/** Nonce by which the page's policy allows styles added at run time. */
export const NONCE = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
