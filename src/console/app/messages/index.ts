/** All texts of the console, in English. Pages contain none. */
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
