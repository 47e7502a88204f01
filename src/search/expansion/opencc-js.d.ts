/** OpenCC's character tables as the package has them: pairs `from to`, separated by `|`. */
declare module 'opencc-js/dict/*' {
  const pairs: string;
  export default pairs;
}
