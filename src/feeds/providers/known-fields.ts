/** The fields of the records of websites and of RSS feeds, in the form in which a list is defined. */
import type { FieldDescriptions } from '../file/sync-file.js';

export const WEBSITE_FIELDS: FieldDescriptions = {
  searchable_fields: [
    { name: 'title', weight: 4 },
    { name: 'headings', weight: 2 },
    { name: 'description', weight: 2 },
    { name: 'text', weight: 1 },
  ],
  facets: [
    { name: 'language', type: 'string', cardinality: 'Single' },
    { name: 'section', type: 'string', cardinality: 'Single' },
    { name: 'type', type: 'string', cardinality: 'Single' },
    { name: 'authors', type: 'string', cardinality: 'Many' },
    { name: 'keywords', type: 'string', cardinality: 'Many' },
    { name: 'published', type: 'date', cardinality: 'Single' },
    { name: 'modified', type: 'date', cardinality: 'Single' },
  ],
  resources: [
    { name: 'image', kind: 'image' },
    { name: 'document', kind: 'document' },
  ],
};

export const SYNDICATION_FIELDS: FieldDescriptions = {
  searchable_fields: [
    { name: 'title', weight: 4 },
    { name: 'summary', weight: 2 },
    { name: 'text', weight: 1 },
  ],
  facets: [
    { name: 'authors', type: 'string', cardinality: 'Many' },
    { name: 'categories', type: 'string', cardinality: 'Many' },
    { name: 'published', type: 'date', cardinality: 'Single' },
    { name: 'updated', type: 'date', cardinality: 'Single' },
  ],
  resources: [{ name: 'image', kind: 'image' }],
};
