/** The name that is always there for lists that learn a model from their own records. */
export const BUILT_IN_MODEL = 'built-in';
