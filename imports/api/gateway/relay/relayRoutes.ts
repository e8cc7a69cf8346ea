/** The routes of what vendors store: files and batches. */
import type { HttpRequest } from '../../http/HttpMessages';
import type { AddEndpoint } from '../../http/Endpoint';
import { createBatch, createMessageBatch } from './batchHandlers';
import type { BatchPorts } from './batchHandlers';
import { act, download, list, remove, upload } from './collectionHandlers';
import { RelayProviders } from './RelayProviders';
import type { RelayProvidersPorts } from './RelayProviders';
import { ANTHROPIC_FILES, MESSAGE_BATCHES, OPENAI_BATCHES, OPENAI_FILES } from './VendorCollection';
import type { VendorCollection } from './VendorCollection';

export type RelayRoutePorts = RelayProvidersPorts &
  Omit<BatchPorts, 'providers'> & { readonly module: RelayProvidersPorts['module'] & BatchPorts['module'] };

export function addRelayRoutes(add: AddEndpoint, given: RelayRoutePorts): void {
  const ports = { ...given, providers: new RelayProviders(given) };
  const files = ({ headers }: Pick<HttpRequest, 'headers'>): VendorCollection =>
    headers['anthropic-version'] === undefined ? OPENAI_FILES : ANTHROPIC_FILES;
  const apiOf = (request: Pick<HttpRequest, 'headers'>): 'chat_completions' | 'anthropic_messages' =>
    files(request) === OPENAI_FILES ? 'chat_completions' : 'anthropic_messages';
  const batches = (): VendorCollection => OPENAI_BATCHES;
  const messageBatches = (): VendorCollection => MESSAGE_BATCHES;

  add(
    apiOf,
    '/v1/files',
    '/v1/files',
    { method: 'post', scope: 'generate', handler: upload(files, ports), readsBody: false },
    { method: 'get', scope: 'read', handler: list(files, ports) },
  );
  add(
    apiOf,
    '/v1/files/:id',
    '/v1/files/:id',
    { method: 'get', scope: 'read', handler: act(files, 'get', '', ports) },
    { method: 'delete', scope: 'generate', handler: remove(files, ports) },
  );
  add(apiOf, '/v1/files/:id/content', '/v1/files/:id/content', {
    method: 'get',
    scope: 'read',
    handler: download(files, '/content', ports),
  });

  add(
    'chat_completions',
    '/v1/batches',
    '/v1/batches',
    { method: 'post', scope: 'generate', handler: createBatch(ports) },
    { method: 'get', scope: 'read', handler: list(batches, ports) },
  );
  add('chat_completions', '/v1/batches/:id', '/v1/batches/:id', {
    method: 'get',
    scope: 'read',
    handler: act(batches, 'get', '', ports),
  });
  add('chat_completions', '/v1/batches/:id/cancel', '/v1/batches/:id/cancel', {
    method: 'post',
    scope: 'generate',
    handler: act(batches, 'post', '/cancel', ports),
  });

  const path = '/v1/messages/batches';
  add(
    'anthropic_messages',
    path,
    path,
    { method: 'post', scope: 'generate', handler: createMessageBatch(ports) },
    { method: 'get', scope: 'read', handler: list(messageBatches, ports) },
  );
  add(
    'anthropic_messages',
    `${path}/:id`,
    `${path}/:id`,
    { method: 'get', scope: 'read', handler: act(messageBatches, 'get', '', ports) },
    { method: 'delete', scope: 'generate', handler: remove(messageBatches, ports) },
  );
  add('anthropic_messages', `${path}/:id/results`, `${path}/:id/results`, {
    method: 'get',
    scope: 'read',
    handler: download(messageBatches, '/results', ports),
  });
  add('anthropic_messages', `${path}/:id/cancel`, `${path}/:id/cancel`, {
    method: 'post',
    scope: 'generate',
    handler: act(messageBatches, 'post', '/cancel', ports),
  });
}
