/** Under which name operations find people and their sign-in. */
import { serviceKey } from '../platform/index.js';
import type { People } from './people.js';
import type { SignIn } from './sign-in.js';

export interface PeoplePart {
  readonly people: People;
  readonly signIn: SignIn;
}

export const PEOPLE = serviceKey<PeoplePart>('people');
