/** Vite takes style sheets in; the compiler is told that there are such. */
declare module '*.css';
