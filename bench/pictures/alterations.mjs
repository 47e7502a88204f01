/** Alterations of a picture as it is passed on. Each takes the bytes of a picture and a generator of numbers, and returns those of another. */
import sharp from 'sharp';

const LOGO = (text, colour) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="140" height="70"><rect width="140" height="70" rx="12" fill="${colour}"/><circle cx="35" cy="35" r="20" fill="#fff"/><rect x="68" y="${20 + text}" width="58" height="14" fill="#fff"/></svg>`;
/** Share of the width and height that is cropped. */
const CROPPED = 0.1;

async function cropped(bytes, random) {
  const picture = sharp(bytes);
  const { width, height } = await picture.metadata();
  const [wide, high] = [Math.round(width * (1 - CROPPED)), Math.round(height * (1 - CROPPED))];
  const place = { left: Math.floor(random() * (width - wide)), top: Math.floor(random() * (height - high)) };
  return picture
    .extract({ ...place, width: wide, height: high })
    .jpeg({ quality: 85 })
    .toBuffer();
}

async function withLogo(bytes, random) {
  const corners = ['northwest', 'northeast', 'southwest', 'southeast'];
  const logo = Buffer.from(LOGO(Math.floor(random() * 30), random() < 0.5 ? '#c02020' : '#103070'));
  return sharp(bytes)
    .composite([{ input: logo, gravity: corners[Math.floor(random() * 4)] }])
    .jpeg({ quality: 85 })
    .toBuffer();
}

export const ALTERATIONS = {
  'resized to two fifths': (bytes) => sharp(bytes).resize({ width: 256 }).jpeg({ quality: 85 }).toBuffer(),
  'recompressed, quality 20': (bytes) => sharp(bytes).jpeg({ quality: 20 }).toBuffer(),
  'cropped by a tenth of each side': cropped,
  'in grey': (bytes) => sharp(bytes).greyscale().jpeg({ quality: 85 }).toBuffer(),
  'with a logo in a corner': withLogo,
  'half the size, lighter, paler, as WebP': (bytes) =>
    sharp(bytes)
      .resize({ width: 320 })
      .modulate({ brightness: 1.15, saturation: 0.8 })
      .webp({ quality: 50 })
      .toBuffer(),
};
