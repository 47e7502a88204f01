/**
 * The features, in the order in which they are opened. To add one, add a folder and a line here. What a feature
 * declares is read before anything of the service is loaded, since the command line needs its settings and commands.
 */
import { agents } from './agents/feature.js';
import { analytics } from './analytics/feature.js';
import { backup } from './backup/feature.js';
import { documents } from './documents/feature.js';
import { feeds } from './feeds/feature.js';
import { media } from './media/feature.js';
import { models } from './models/feature.js';
import type { Feature } from './operations/index.js';
import { people } from './people/feature.js';
import { pictures } from './pictures/feature.js';
import { plans } from './plans/feature.js';
import { proposals } from './proposals/feature.js';
import { recordings } from './recordings/feature.js';
import { resources } from './resources/feature.js';
import { webhooks } from './webhooks/feature.js';

export const FEATURES: readonly Feature[] = [
  analytics,
  webhooks,
  plans,
  people,
  models,
  media,
  documents,
  pictures,
  recordings,
  resources,
  feeds,
  proposals,
  backup,
  agents,
];
