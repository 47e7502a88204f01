/**
 * Draws synthetic pictures as SVG from a seed: landscapes, objects on a ground, pages of text, patterns, charts, noise, shapes
 * and gradients. Two seeds never give the same picture; two of one kind are as similar as two photographs of one kind.
 */
import { seededRandom } from '../end-to-end/lib/random.mjs';

export const WIDTH = 640;
export const HEIGHT = 480;

/** Returns the drawing functions of a scene. */
function toolsOf(seed) {
  const random = seededRandom(seed);
  const between = (least, most) => least + random() * (most - least);
  const whole = (least, most) => Math.floor(between(least, most + 1));
  const colour = (lightness = between(15, 85)) =>
    `hsl(${Math.round(random() * 360)} ${Math.round(between(10, 90))}% ${Math.round(lightness)}%)`;
  const many = (count, make) => Array.from({ length: count }, (_, index) => make(index)).join('');
  const noise = (id, frequency, octaves) =>
    `<filter id="${id}" x="0" y="0" width="100%" height="100%"><feTurbulence type="fractalNoise" baseFrequency="${frequency}" numOctaves="${octaves}" seed="${whole(1, 99_999)}"/>` +
    `<feColorMatrix type="matrix" values="${many(3, () => `${between(0.4, 1.8)} ${between(-0.6, 0.6)} ${between(-0.6, 0.6)} 0 ${between(-0.3, 0.3)} `)} 0 0 0 0 1"/></filter>`;
  return { random, between, whole, colour, many, noise };
}

const whole = `x="0" y="0" width="${WIDTH}" height="${HEIGHT}"`;

function landscape({ between, colour, many, whole: count, noise }) {
  const horizon = between(120, 330);
  const ridge = (index) => {
    const base = horizon + index * between(15, 50);
    const points = Array.from({ length: 12 }, (_, at) => `${(at * WIDTH) / 11},${base - between(0, 90 - index * 20)}`);
    return `<polygon fill="${colour(between(20, 55))}" points="0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}"/>`;
  };
  return (
    `<defs><linearGradient id="sky" x1="0" x2="0" y1="0" y2="1"><stop offset="0" stop-color="${colour(between(30, 80))}"/><stop offset="1" stop-color="${colour(between(50, 95))}"/></linearGradient>${noise('grain', between(0.01, 0.08), 4)}</defs>` +
    `<rect ${whole} fill="url(#sky)"/><circle cx="${between(0, WIDTH)}" cy="${between(20, horizon)}" r="${between(15, 70)}" fill="${colour(between(70, 98))}"/>` +
    many(count(1, 3), ridge) +
    `<rect ${whole} filter="url(#grain)" opacity="${between(0.1, 0.35)}"/>`
  );
}

function thing({ between, colour, many, whole: count, random }) {
  const [x, y] = [between(240, 400), between(180, 300)];
  const part = () => {
    const [width, height] = [between(40, 260), between(40, 220)];
    const place = `transform="translate(${x + between(-90, 90)} ${y + between(-70, 70)}) rotate(${between(0, 180)})"`;
    return random() < 0.5
      ? `<ellipse ${place} rx="${width / 2}" ry="${height / 2}" fill="${colour()}"/>`
      : `<rect ${place} x="${-width / 2}" y="${-height / 2}" width="${width}" height="${height}" rx="${between(0, 40)}" fill="${colour()}"/>`;
  };
  return `<rect ${whole} fill="${random() < 0.7 ? '#fff' : colour(between(75, 98))}"/>${many(count(2, 5), part)}`;
}

function page({ between, colour, whole: count, random }) {
  const ink = random() < 0.8 ? '#222' : colour(30);
  const left = between(30, 70);
  const columns = count(1, 2);
  const wide = (WIDTH - left * 2) / columns;
  let drawn = `<rect ${whole} fill="${random() < 0.7 ? '#fff' : colour(94)}"/><rect x="${left}" y="30" width="${between(150, 420)}" height="${between(16, 34)}" fill="${colour(between(20, 50))}"/>`;
  for (let column = 0; column < columns; ++column)
    for (let y = 90; y < HEIGHT - 30; y += 14) {
      if (random() < 0.12) continue;
      const end = random() < 0.18 ? between(40, wide * 0.7) : wide - 20;
      for (let x = 0; x < end;) {
        const word = between(8, 60);
        drawn += `<rect x="${left + column * wide + x}" y="${y}" width="${Math.min(word, end - x)}" height="7" fill="${ink}"/>`;
        x += word + 6;
      }
    }
  if (random() < 0.4) {
    const [x, y] = [between(60, 400), between(110, 320)];
    drawn += `<rect x="${x}" y="${y}" width="${between(90, 200)}" height="${between(70, 130)}" fill="${colour()}"/>`;
  }
  return drawn;
}

function pattern({ between, colour, many, whole: count }) {
  const [step, turn] = [between(18, 90), between(0, 180)];
  const shapes = [
    () => `<circle cx="${step / 2}" cy="${step / 2}" r="${between(step / 8, step / 2)}" fill="${colour()}"/>`,
    () => `<rect width="${step * between(0.2, 0.7)}" height="${step}" fill="${colour()}"/>`,
    () => `<path d="M0 ${step} L${step / 2} 0 L${step} ${step} Z" fill="${colour()}"/>`,
  ];
  const drawn = many(count(1, 3), () => shapes[count(0, 2)]());
  return (
    `<defs><pattern id="p" width="${step}" height="${step}" patternUnits="userSpaceOnUse" patternTransform="rotate(${turn})"><rect width="${step}" height="${step}" fill="${colour()}"/>${drawn}</pattern></defs><rect ${whole} fill="url(#p)"/>` +
    many(
      count(1, 3),
      () => `<circle cx="${between(0, WIDTH)}" cy="${between(0, HEIGHT)}" r="${between(30, 120)}" fill="${colour()}"/>`,
    )
  );
}

function chart({ between, colour, many, whole: count }) {
  const bars = count(4, 14);
  const wide = 540 / bars;
  const ink = colour(45);
  const points = Array.from({ length: 12 }, (_, at) => `${60 + at * 48},${between(60, 400)}`);
  return (
    `<rect ${whole} fill="#fff"/><path d="M50 40 V430 H610" fill="none" stroke="#333" stroke-width="3"/>` +
    many(bars, (index) => {
      const height = between(20, 370);
      return `<rect x="${60 + index * wide}" y="${430 - height}" width="${wide * 0.7}" height="${height}" fill="${ink}"/>`;
    }) +
    `<polyline points="${points.join(' ')}" fill="none" stroke="${colour(40)}" stroke-width="${between(2, 8)}"/>`
  );
}

function cloud({ between, whole: count, noise }) {
  return `<defs>${noise('n', between(0.004, 0.03), count(2, 5))}</defs><rect ${whole} filter="url(#n)"/>`;
}

function shapes({ between, colour, many, whole: count, random }) {
  const one = () => {
    const points = many(count(3, 6), () => `${between(-40, WIDTH + 40)},${between(-40, HEIGHT + 40)} `);
    return random() < 0.5
      ? `<polygon points="${points}" fill="${colour()}" opacity="${between(0.5, 1)}"/>`
      : `<circle cx="${between(0, WIDTH)}" cy="${between(0, HEIGHT)}" r="${between(20, 160)}" fill="${colour()}" opacity="${between(0.5, 1)}"/>`;
  };
  return `<rect ${whole} fill="${colour()}"/>${many(count(4, 14), one)}`;
}

function slope({ between, colour, many, whole: count }) {
  const stops = count(2, 4);
  const stop = (index) => `<stop offset="${index / (stops - 1)}" stop-color="${colour()}"/>`;
  const turn = between(0, 360);
  return (
    `<defs><linearGradient id="g" gradientTransform="rotate(${turn} 0.5 0.5)">${many(stops, stop)}</linearGradient><radialGradient id="r"><stop offset="0" stop-color="${colour()}"/><stop offset="1" stop-color="${colour()}" stop-opacity="0"/></radialGradient></defs><rect ${whole} fill="url(#g)"/>` +
    many(
      count(1, 4),
      () => `<circle cx="${between(0, WIDTH)}" cy="${between(0, HEIGHT)}" r="${between(60, 260)}" fill="url(#r)"/>`,
    )
  );
}

const KINDS = { landscape, thing, page, pattern, chart, cloud, shapes, slope };
export const KIND_NAMES = Object.keys(KINDS);

/** Returns the kind of picture of a seed. */
export const kindOf = (seed) => KIND_NAMES[seed % KIND_NAMES.length];

/** Returns the SVG of a seed's picture, WIDTH × HEIGHT. */
export function sceneOf(seed) {
  const drawn = KINDS[kindOf(seed)](toolsOf(seed + 1));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${drawn}</svg>`;
}
