/** Every text of the console, in English. A page has none of its own. */
import { accountTexts } from './account.js';
import { commonTexts } from './common.js';
import { contentTexts } from './content.js';
import { listTexts } from './list.js';

export const text = { ...commonTexts, ...listTexts, ...accountTexts, ...contentTexts } as const;
