/** Key by which operations find people and their sign-in. */
import { serviceKey } from '../platform/index.js';
import type { OpenId } from './openid.js';
import type { People } from './people.js';
import type { SignIn } from './sign-in.js';

export interface PeoplePart {
  readonly people: People;
  readonly signIn: SignIn;
  /** Undefined if no OpenID provider is configured. */
  readonly openId: OpenId | undefined;
}

export const PEOPLE = serviceKey<PeoplePart>('people');
