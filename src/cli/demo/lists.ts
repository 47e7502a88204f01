/** The lists of the demo, with every field written out: good examples of list definitions. */
import { cityRecords } from './cities.js';
import type { DemoList, DemoRecord } from './demo-list.js';
import { wordnetRecords } from './wordnet.js';

const facet = (name: string, type: string, cardinality: 'Single' | 'Many' = 'Single') => ({ name, type, cardinality });

export const WORDNET: DemoList = {
  name: 'wordnet',
  title: 'WordNet, a dictionary of English',
  definition: {
    language: 'en',
    searchable_fields: [
      { name: 'words', weight: 4 },
      { name: 'gloss', weight: 2 },
      { name: 'examples', weight: 1 },
    ],
    facets: [
      facet('part_of_speech', 'string'),
      facet('lexical_domain', 'string'),
      facet('sense', 'number'),
      facet('hypernym', 'string', 'Many'),
      facet('part_of', 'string', 'Many'),
      facet('topic', 'string', 'Many'),
      facet('antonym', 'string', 'Many'),
    ],
  },
  records: () => ofWordnet(),
};

/** Read once, for two lists. */
let wordnet: Promise<DemoRecord[]> | undefined;
const ofWordnet = () => (wordnet ??= wordnetRecords());

export const ANIMALS: DemoList = {
  name: 'animals',
  title: 'Animals of WordNet, by meaning too',
  definition: {
    ...WORDNET.definition,
    // Learned from these records alone.
    model: 'built-in',
  },
  records: async () => (await ofWordnet()).filter(({ fields }) => fields['lexical_domain'] === 'noun.animal'),
};

const CITIES: DemoList = {
  name: 'cities',
  title: 'Cities of the world',
  definition: {
    // Place names are not English words: no stemming.
    language: 'none',
    searchable_fields: [
      { name: 'city', weight: 4 },
      { name: 'country', weight: 1 },
    ],
    facets: [
      facet('country', 'string'),
      facet('country_code', 'string'),
      facet('admin_code', 'string'),
      facet('feature_code', 'string'),
      facet('population', 'number'),
    ],
    location_field: 'location',
  },
  records: cityRecords,
};

/** The animals come first, so that their model is learned while the others are imported. */
export const DEMO_LISTS: readonly DemoList[] = [ANIMALS, WORDNET, CITIES];
