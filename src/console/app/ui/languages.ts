/** Languages offered for lists, with their English names. */
import { text } from '../messages/index.js';

const TAGS = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'nl',
  'pt',
  'sv',
  'da',
  'no',
  'fi',
  'ru',
  'pl',
  'cs',
  'sk',
  'uk',
  'bg',
  'hr',
  'sr',
  'fa',
  'he',
  'none',
];

const names = new Intl.DisplayNames('en', { type: 'language' });

/** Includes the list's current language, since programs may choose others. */
export function languageChoices(chosen: string): { readonly value: string; readonly label: string }[] {
  return [...new Set([...TAGS, chosen])].map((value) => ({ value, label: languageName(value) }));
}

/** `German (de)`; an invalid tag is returned as it is. */
function languageName(tag: string): string {
  if (tag === 'none') return text.lists.noLanguage;
  try {
    const name = names.of(tag);
    return name === undefined || name === tag ? tag : `${name} (${tag})`;
  } catch {
    return tag;
  }
}
