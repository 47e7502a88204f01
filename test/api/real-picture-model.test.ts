/**
 * Tests a picture model with its weights in the service: `GANNET_TEST_PICTURE_MODEL` is the folder that `node
 * bench/pictures/fetch-model.mjs` prints. It finds what no descriptor of looks finds: a mirrored picture.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.js';
import { drawnPicture } from '../support/pictures.js';
import { startTestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const FOLDER = process.env['GANNET_TEST_PICTURE_MODEL'] ?? '';
const DIMENSIONS = 1280;
const PICTURES = 24;
const FIRST_MIN = 0.9;
const SIZE = { width: 320, height: 240 };

interface Found {
  readonly results: readonly { readonly name: string; readonly '@image_score': number }[];
}

itWhere(
  existsSync(join(FOLDER, 'preprocessor_config.json')),
  'GANNET_TEST_PICTURE_MODEL is no folder with a model; node bench/pictures/fetch-model.mjs makes one',
)('EfficientNet-Lite0 finds the same picture with a score of 1, and its mirror image before all others', async () => {
  const service = await startTestService({ env: { GANNET_MODELS_DIR: dirname(FOLDER) } });
  try {
    const { client } = service;
    const model = { name: 'seen', provider: 'onnx', folder: basename(FOLDER) };
    const added = await service.control().post('/model/default', model);
    expect([added.status, added.body], added.text).toMatchObject([201, { inputs: ['image'], dimensions: DIMENSIONS }]);
    const definition = {
      name: 'photos',
      image_model: 'seen',
      searchable_fields: [{ name: 'title' }],
      resources: [{ name: 'photo', kind: 'image' }],
    };
    expect((await client.post('/list/default', definition)).status).toBe(201);
    for (let seed = 0; seed < PICTURES; seed += 1) {
      const bytes = await drawnPicture(seed, SIZE).png().toBuffer();
      expect((await client.send('PUT', `/media/default/default/${seed}.png`, { bytes })).status).toBe(201);
    }
    const records = Array.from({ length: PICTURES }, (_, seed) => {
      return { name: `n${seed}`, title: `${seed}`, photo: `media:default/${seed}.png` };
    });
    await client.bulk('default', 'photos', records);
    await eventually(
      async () => (await client.get('/list/default/photos')).body,
      (body) => (body as { resources_state: { read: number } }).resources_state.read === PICTURES,
    );
    const find = async (bytes: Buffer): Promise<Found> => {
      const sent = { bytes, headers: { 'content-type': 'image/png' } };
      const { status, body, text } = await client.send('POST', '/search/image/default/photos/1', sent);
      expect(status, text).toBe(200);
      return body as Found;
    };
    let first = 0;
    for (let seed = 0; seed < PICTURES; seed += 1) {
      const same = await find(await drawnPicture(seed, SIZE).png().toBuffer());
      expect(same.results[0]).toMatchObject({ name: `n${seed}`, '@image_score': 1 });
      const mirrored = await find(await drawnPicture(seed, SIZE).flop().png().toBuffer());
      if (mirrored.results[0]?.name === `n${seed}`) first += 1;
    }
    expect(first / PICTURES).toBeGreaterThanOrEqual(FIRST_MIN);
  } finally {
    await service.close();
  }
});
