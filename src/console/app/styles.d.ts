/** Declares style sheets, which Vite bundles, for the compiler. */
declare module '*.css';
