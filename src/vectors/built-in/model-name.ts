/** Model name that is always available: a list with this model learns it from its own records. */
export const BUILT_IN_MODEL = 'built-in';
