/** Every text of the console, in English. A page has none of its own. */
import { accountTexts } from './account.js';
import { commonTexts } from './common.js';
import { contentTexts } from './content.js';
import { compareTexts, documentTexts, explainTexts } from './documents.js';
import { listTexts } from './list.js';
import { pictureTexts } from './pictures.js';

export const text = {
  ...commonTexts,
  ...listTexts,
  ...accountTexts,
  ...contentTexts,
  ...documentTexts,
  ...explainTexts,
  ...compareTexts,
  ...pictureTexts,
} as const;
