/** State of a sign-in by OpenID Connect, kept in this tab while the browser is at the provider. */

export interface KeptFlow {
  readonly flow: string;
  /** Where the person wanted to go. */
  readonly to?: string | undefined;
}

const KEY = 'gannet-openid';

export function keepFlow(flow: KeptFlow): void {
  sessionStorage.setItem(KEY, JSON.stringify(flow));
}

/** Returns the state once. Undefined if this tab began no sign-in. */
export function takeFlow(): KeptFlow | undefined {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return kept === null ? undefined : (JSON.parse(kept) as KeptFlow);
}
