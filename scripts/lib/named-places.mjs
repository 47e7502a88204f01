/**
 * Places of the project that a module of tests reaches for, by its syntax: what is joined to the module's own place or to the folder of the
 * project. It is told from few forms, and whatever has another is not `isWhole`: that module may read everything.
 */
import { dirname, normalize } from 'node:path/posix';

const JOINING = new Set(['join', 'resolve', 'URL']);
const SAME_PLACE = new Set(['fileURLToPath', 'pathToFileURL', 'URL', 'String']);
const READING = /^(?:readFile|readdir|opendir|glob|createReadStream|cp|copyFile)(?:Sync)?$|^openSync$/;
const STARTING = /^(?:spawn|exec|execFile)(?:Sync)?$|^fork$/;
/** Programs that read nothing of the project but what they are told by its path. */
const PROGRAMS =
  /^(?:\/.*|true|ps|rm|cc|touch|mkfifo|mount|umount|unshare|bindfs|mkfs\.ext4|openssl|systemd-analyze|pkg-config|apt-get|dpkg-deb|java|mvn|python3|ffmpeg)$/;

/** `{ places: [{ path, isPart }], isWhole }`: `isPart` where something computed follows. */
export function namedPlaces(program, module) {
  const found = { places: [], isWhole: true };
  const known = new Map();
  // Names first: a function may use one that stands below it.
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

/** A text without anything computed. */
function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].value.cooked : undefined;
}

const headOf = ({ quasis }) => quasis[0].value.cooked;

/** Where `node` begins by itself: `{ path }`, '.' for the folder of the project. */
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
  // Of a template, the folders that it begins with.
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
  // Wherever this name stands is looked at by itself.
  if (
    user.type === 'VariableDeclarator' &&
    user.id.type === 'Identifier' &&
    line[at - 3].type !== 'ExportNamedDeclaration'
  )
    return;
  const place = placeOf(line[at], context);
  const isAll = place.path === '.' || place.path === context.module;
  const isLeft = user.type === 'TemplateLiteral' && user.quasis.some(({ value }) => value.raw.includes('/..'));
  // Whoever is given one of these may join anything to it.
  if (isLeft || (isAll && (place.isPart || !isPassedOn(user, place)))) found.isWhole = false;
  if (!isAll) found.places.push(place);
}

/** A process that is started there, or told of it, reads what the service is made of (what-tests-read.mjs). */
function isPassedOn(user, { path }) {
  if (user.type === 'TemplateLiteral') return path !== '.';
  return (
    ['ArrayExpression', 'ExpressionStatement'].includes(user.type) ||
    (user.type === 'Property' && user.key.name === 'cwd')
  );
}

/** What reads by a path of its own, or starts a program, says which. */
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

/** `createRequire(…)('package')` or `createRequire(…).resolve('package')`: of npm. Files are found by the texts of the module. */
function requiresByName(line) {
  const [, user, above] = line;
  const call = user?.type === 'MemberExpression' ? above : user;
  return call !== undefined && isCall(call) && textOf(call.arguments[0]) !== undefined;
}

/** Where it is given, or names a member, it stands for nothing. */
function isNameAlone(node, parent) {
  if (node.type !== 'Identifier') return false;
  if (parent.type === 'VariableDeclarator') return parent.id === node;
  if (parent.type === 'MemberExpression') return parent.property === node && !parent.computed;
  return parent.type === 'Property' && parent.key === node && parent.value !== node;
}
