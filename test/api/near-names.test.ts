/** Tests that an unknown name gets the suggestion of a similar one, but only for callers that may see the names. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
let id = '';

interface Made {
  readonly id: string;
}

beforeAll(async () => {
  service = await startTestService();
  const made = [
    await service.client.post('/list/default', {
      name: 'animals',
      model: 'own',
      searchable_fields: [{ name: 'text' }],
      facets: [{ name: 'colour', type: 'string' }],
    }),
    await service.control().post('/model/default', { name: 'vectors', provider: 'own', dimensions: 8 }),
    await service.client.post('/search-result/default/animals', { name: 'heron', fields: { text: 'grey' } }),
  ];
  expect(made.map(({ status, text }) => (status < 300 ? '' : text))).toEqual(['', '', '']);
  ({ id } = (made[2] as { readonly body: unknown }).body as Made);
});
afterAll(() => service.stop());

const GROUP = { name: 'g', lists: [{ list: 'animls' }] };

it.each([
  ['GET', '/model/default/vector', undefined, "has no model 'vector'. Did you mean 'vectors'?"],
  ['PUT', '/list/default/animals', { model: 'vectrs' }, "written with the records. Did you mean 'vectors'?"],
  ['PUT', '/list/default/animals', { image_model: 'builtin' }, "Did you mean 'built-in'?"],
  ['GET', '/media-store/default/defalt', undefined, "has no media store 'defalt'. Did you mean 'default'?"],
  ['DELETE', '/facet/default/animals/color', undefined, "has no facet 'color'. Did you mean 'colour'?"],
  ['POST', '/list-group/default', GROUP, "There is no list 'animls' in the account 'default'. Did you mean 'animals'?"],
])('%s %s suggests a similar name', async (method, path, body, told) => {
  const answer = await service.control().send(method, path, body === undefined ? {} : { json: body });
  expect(answer.body).toMatchObject({ detail: expect.stringContaining(told) });
});

it('The error about the id of a record explains that it is no name, and tells the name', async () => {
  const told = { status: 404, body: { detail: expect.stringContaining('its name is "heron"') } };
  expect(await service.client.get(`/search-result/document-text/default/animals/${id}`)).toMatchObject(told);
  expect(await service.client.get(`/related/default/animals/1/${id}`)).toMatchObject(told);
});

it('No names are suggested to an API key without permission to see them', async () => {
  const blind = await service.clientFor({ access: 'custom', permissions: ['media:read'] });
  const { body } = await blind.get('/media/default/defalt');
  expect(body).toMatchObject({ detail: "The account 'default' has no media store 'defalt'." });
});
