/**
 * Where the operations are that commands call by name: loading the registry for it would take longer than everything else that such a
 * command does. Those that are not here are looked up there; the tests compare both.
 */
import type { Operation } from '../operations/index.js';

export type OperationRoute = Pick<Operation, 'name' | 'method' | 'path'>;

const ROUTES: Readonly<Record<string, readonly [method: Operation['method'], path: string]>> = {
  'system.health': ['GET', '/health'],
  'progress.read': ['GET', '/progress/{account}'],
  'contributor.link': ['POST', '/contributor/{account}/link'],
  'api-key.list': ['GET', '/api-key/{account}'],
  'api-key.create': ['POST', '/api-key/{account}'],
  'api-key.delete': ['DELETE', '/api-key/{account}/{id}'],
  'list.list': ['GET', '/list/{account}'],
  'list.create': ['POST', '/list/{account}'],
  'list.read': ['GET', '/list/{account}/{list}'],
  'list.check': ['POST', '/list/{account}/{list}/check'],
  'list.reindex': ['POST', '/list/{account}/{list}/reindex'],
  'search-result.list': ['GET', '/search-result/{account}/{list}'],
  'search-result.bulk': ['POST', '/search-result/{account}/{list}/bulk'],
  'search.list': ['POST', '/search/{account}/{list}/{version}'],
  'search.image': ['POST', '/search/image/{account}/{list}/{version}'],
  'analytics.list': ['GET', '/analytics/list/{account}/{list}'],
  'analytics.group': ['GET', '/analytics/group/{account}/{group}'],
  'media.list': ['GET', '/media/{account}/{store}'],
  'media.read': ['GET', '/media/{account}/{store}/{path}'],
  'media.upload': ['PUT', '/media/{account}/{store}/{path}'],
  'media.delete': ['DELETE', '/media/{account}/{store}/{path}'],
  'media-store.list': ['GET', '/media-store/{account}'],
  'media-store.create': ['POST', '/media-store/{account}'],
  'media-store.delete': ['DELETE', '/media-store/{account}/{store}'],
  'media-store.check': ['POST', '/media-store/{account}/{store}/check'],
  'webhook.list': ['GET', '/webhook/{account}'],
  'webhook.create': ['POST', '/webhook'],
  'webhook.delete': ['DELETE', '/webhook/{account}/{id}'],
  'webhook.test': ['POST', '/webhook/{account}/{id}/test'],
  'webhook.deliveries': ['GET', '/webhook/{account}/{id}/deliveries'],
  'webhook.set-aside': ['GET', '/webhook/{account}/{id}/set-aside'],
  'webhook.replay': ['POST', '/webhook/{account}/{id}/replay'],
  'webhook.rotate-secret': ['POST', '/webhook/{account}/{id}/rotate-secret'],
};

/** By name. */
export const KNOWN_ROUTES: ReadonlyMap<string, OperationRoute> = new Map(
  Object.entries(ROUTES).map(([name, [method, path]]) => [name, { name, method, path }]),
);
