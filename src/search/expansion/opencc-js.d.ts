/** OpenCC's tables of characters, as the package has them: pairs of one character and another, parted by a blank, each behind a `|`. */
declare module 'opencc-js/dict/*' {
  const pairs: string;
  export default pairs;
}
