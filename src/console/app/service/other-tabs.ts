/** Tells other tabs of this browser that something was changed, as the service does not. */
const NAME = 'gannet changes';

let channel: BroadcastChannel | undefined;

/** Calls `tell` after changes in other tabs. Called once, by the page. */
export function whenChangedInOtherTabs(tell: () => void): void {
  channel = new BroadcastChannel(NAME);
  channel.addEventListener('message', tell);
}

export function tellOtherTabs(): void {
  channel?.postMessage('changed');
}
