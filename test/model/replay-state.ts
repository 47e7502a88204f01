/**
 * State of a running sequence: the names of its lists and its group in the service, and the reference model of each.
 */
import type { Answer, ServiceClient } from '../support/client.js';
import type { TestService } from '../support/service.js';
import type { WebhookReceiver } from '../support/webhook-receiver.js';
import { CountedSearches } from './counted-searches.js';
import { holdsTrue } from './difference.js';
import { OtherWays } from './other-ways.js';
import { ReferenceGroup } from './reference-group.js';
import type { ReferenceList } from './reference-list.js';
import type { TextModel } from './text-model.js';
import type { ToldAccount } from './told-account.js';
import type { ToldEvents } from './told-events.js';
import type { ToldSettings } from './told-settings.js';

/** Servers and folders that all sequences share. */
export interface ReplayParts {
  readonly service: TestService;
  readonly textModel: TextModel;
  readonly receiver: WebhookReceiver;
  /** Folder for media stores. */
  readonly mediaFolder: string;
}

export class ReplayState {
  readonly lists: ReferenceList[] = [];
  readonly counted = new CountedSearches();
  readonly otherWays: OtherWays;
  readonly group = new ReferenceGroup();
  /** Set only in sequences with a webhook, as are the next two. */
  told: ToldEvents | undefined;
  toldSettings: ToldSettings | undefined;
  toldAccount: ToldAccount | undefined;

  readonly service: TestService;
  readonly textModel: TextModel;
  readonly receiver: WebhookReceiver;
  readonly mediaFolder: string;

  constructor(
    { service, textModel, receiver, mediaFolder }: ReplayParts,
    readonly prefix: string,
  ) {
    [this.service, this.textModel, this.receiver, this.mediaFolder] = [service, textModel, receiver, mediaFolder];
    this.otherWays = new OtherWays(service, prefix);
  }

  get client(): ServiceClient {
    return this.service.client;
  }

  name(list: number): string {
    return `${this.prefix}-${list}`;
  }

  list(list: number): ReferenceList {
    const found = this.lists[list];
    if (found === undefined) throw new Error(`There is no list ${list}`);
    return found;
  }
}

export async function answered(sent: Promise<Answer>, ...statuses: readonly number[]): Promise<Answer> {
  const answer = await sent;
  holdsTrue(`status ${statuses.join(' or ')}`, statuses.includes(answer.status), () => [answer.status, answer.text]);
  return answer;
}
