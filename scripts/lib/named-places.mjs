/**
 * Finds the places of the project that a module of tests uses, from its syntax: paths joined to the module's own place or to the project
 * folder. It knows few forms. With any other form `isWhole` is false, and the module may read everything.
 */
import { dirname, normalize } from 'node:path/posix';

const JOINING = new Set(['join', 'resolve', 'URL']);
const SAME_PLACE = new Set(['fileURLToPath', 'pathToFileURL', 'URL', 'String']);
const READING = /^(?:readFile|readdir|opendir|glob|createReadStream|cp|copyFile)(?:Sync)?$|^openSync$/;
const STARTING = /^(?:spawn|exec|execFile)(?:Sync)?$|^fork$/;
/** Programs that read only those files of the project that are given to them by path. */
const PROGRAMS =
  /^(?:\/.*|true|ps|rm|cc|touch|mkfifo|mount|umount|unshare|bindfs|mkfs\.ext4|openssl|systemd-analyze|pkg-config|apt-get|dpkg-deb|java|mvn|python3|ffmpeg)$/;

/** Returns `{ places: [{ path, isPart }], isWhole }`. `isPart` is true if something computed follows the path. */
export function namedPlaces(program, module) {
  const found = { places: [], isWhole: true };
  const known = new Map();
  // Finds variables first, as a function may use one declared below it.
  walk(program, [], (node) => {
    const isNamed = node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init !== null;
    const place = isNamed && placeOf(node.init, { module, known });
    if (isNamed && place !== undefined) known.set(node.id.name, place);
  });
  const context = { module, known, found };
  walk(program, [], (node, above) => {
    lookAt(node, above, context);
  });
  return found;
}

function walk(node, above, look) {
  look(node, above);
  const inside = [...above, node];
  for (const value of Object.values(node))
    for (const each of Array.isArray(value) ? value : [value])
      if (typeof each?.type === 'string') walk(each, inside, look);
}

const nameOf = (callee) => (callee?.type === 'MemberExpression' ? callee.property.name : callee?.name);
const isCall = (node) => node.type === 'CallExpression' || node.type === 'NewExpression';
const isOfMeta = (node) => node.type === 'MemberExpression' && node.object.type === 'MetaProperty';

/** Returns the string of a literal or of a template without expressions, otherwise undefined. */
function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].value.cooked : undefined;
}

const headOf = ({ quasis }) => quasis[0].value.cooked;

/** Returns the place that `node` itself stands for as `{ path }`, with '.' for the project folder, or undefined. */
function beginningOf(node, { module, known }) {
  if (isOfMeta(node)) {
    if (node.property.name === 'dirname') return { path: dirname(module) };
    return ['url', 'filename'].includes(node.property.name) ? { path: module } : undefined;
  }
  if (node.type === 'Identifier' && node.name === '__dirname') return { path: dirname(module) };
  if (node.type === 'Identifier' && node.name === '__filename') return { path: module };
  if (node.type === 'CallExpression' && ['cwd', 'packageRoot'].includes(nameOf(node.callee))) return { path: '.' };
  return node.type === 'Identifier' ? known.get(node.name) : undefined;
}

function placeOf(node, context) {
  if (node.type === 'TSAsExpression') return placeOf(node.expression, context);
  const begun = beginningOf(node, context);
  if (begun !== undefined) return begun;
  if (node.type === 'MemberExpression' && ['href', 'pathname'].includes(node.property.name))
    return placeOf(node.object, context);
  if (!isCall(node)) return undefined;
  const name = nameOf(node.callee);
  const [first, second] = node.arguments;
  if (name === 'dirname' && first !== undefined) {
    const place = placeOf(first, context);
    return place && { ...place, path: dirname(place.path) };
  }
  if (name === 'URL' && second !== undefined) {
    const base = placeOf(second, context);
    return base && joined({ path: base.path === '.' ? '.' : dirname(base.path) }, [first]);
  }
  if (SAME_PLACE.has(name) && first !== undefined) return placeOf(first, context);
  const base = JOINING.has(name) && first !== undefined ? placeOf(first, context) : undefined;
  return base && joined(base, node.arguments.slice(1));
}

function joined({ path, isPart = false }, parts) {
  const texts = parts.map(textOf);
  const end = texts.includes(undefined) ? texts.indexOf(undefined) : texts.length;
  if (texts.slice(end).some((text) => text?.includes('..'))) return { path: '.', isPart: true };
  // Takes the folders at the beginning of a template.
  const [folders] = /^(?:.*\/)?/.exec(parts[end]?.type === 'TemplateLiteral' ? headOf(parts[end]) : '');
  const whole = normalize([path, ...texts.slice(0, end), folders].join('/')).replace(/(?<=.)\/$/, '');
  return { path: whole, isPart: isPart || end < texts.length };
}

function lookAt(node, above, context) {
  const { found } = context;
  if (isOfMeta(node) && beginningOf(node, context) === undefined && node.property.name !== 'env') found.isWhole = false;
  if (isCall(node) && !isUnderstood(node, context)) found.isWhole = false;
  if (beginningOf(node, context) === undefined || isNameAlone(node, above.at(-1))) return;
  const line = [...above, node];
  let at = line.length - 1;
  while (at > 0 && placeOf(line[at - 1], context) !== undefined) at -= 1;
  const user = line[at - 1];
  if (isCall(user) && nameOf(user.callee) === 'createRequire') {
    if (!requiresByName(line.slice(0, at).reverse())) found.isWhole = false;
    return;
  }
  // Uses of this variable are examined where they occur.
  if (
    user.type === 'VariableDeclarator' &&
    user.id.type === 'Identifier' &&
    line[at - 3].type !== 'ExportNamedDeclaration'
  )
    return;
  const place = placeOf(line[at], context);
  const isAll = place.path === '.' || place.path === context.module;
  const isLeft = user.type === 'TemplateLiteral' && user.quasis.some(({ value }) => value.raw.includes('/..'));
  // The receiver of such a place may join anything to it.
  if (isLeft || (isAll && (place.isPart || !isPassedOn(user, place)))) found.isWhole = false;
  if (!isAll) found.places.push(place);
}

/** True if the place is only the working directory or an argument of a process, which reads the files of the service (what-tests-read.mjs). */
function isPassedOn(user, { path }) {
  if (user.type === 'TemplateLiteral') return path !== '.';
  return (
    ['ArrayExpression', 'ExpressionStatement'].includes(user.type) ||
    (user.type === 'Property' && user.key.name === 'cwd')
  );
}

/** True unless the call reads a file or starts a program that cannot be determined. */
function isUnderstood(node, context) {
  const name = nameOf(node.callee) ?? '';
  const [first] = node.arguments;
  if (STARTING.test(name) && node.callee.type === 'Identifier') {
    const program = textOf(first);
    return program === undefined ? first?.type !== 'TemplateLiteral' : PROGRAMS.test(program);
  }
  if (!READING.test(name)) return true;
  const text = textOf(first) ?? (first?.type === 'TemplateLiteral' ? headOf(first) : '');
  if (text === '' || text.startsWith('/') || /^\w+:/.test(text)) return true;
  context.found.places.push(joined({ path: '.' }, textOf(first) === undefined ? [] : [first]));
  return textOf(first) !== undefined;
}

/** True for `createRequire(…)('package')` and `createRequire(…).resolve('package')` of npm packages. Files are found by the strings of the module. */
function requiresByName(line) {
  const [, user, above] = line;
  const call = user?.type === 'MemberExpression' ? above : user;
  return call !== undefined && isCall(call) && textOf(call.arguments[0]) !== undefined;
}

/** True if the identifier is only declared, or names a member, and so stands for no value. */
function isNameAlone(node, parent) {
  if (node.type !== 'Identifier') return false;
  if (parent.type === 'VariableDeclarator') return parent.id === node;
  if (parent.type === 'MemberExpression') return parent.property === node && !parent.computed;
  return parent.type === 'Property' && parent.key === node && parent.value !== node;
}
