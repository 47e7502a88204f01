/** What this tab keeps of a sign-in by OpenID Connect while the browser is at the provider. */

export interface KeptFlow {
  readonly flow: string;
  /** Where the person wanted to go. */
  readonly to?: string | undefined;
}

const KEY = 'gannet-openid';

export function keepFlow(flow: KeptFlow): void {
  sessionStorage.setItem(KEY, JSON.stringify(flow));
}

/** Once. Undefined where this tab has begun none. */
export function takeFlow(): KeptFlow | undefined {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return kept === null ? undefined : (JSON.parse(kept) as KeptFlow);
}
