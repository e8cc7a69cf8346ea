/** The routes of images, audio and moderations. */
import type { AddEndpoint } from '../../http/Endpoint';
import { relayForm, relayJson } from './mediaHandlers';
import type { MediaPorts } from './mediaHandlers';
import { moderationModel } from './moderationModel';

const JSON_PATHS = ['/images/generations', '/audio/speech'];
const FORM_PATHS = ['/images/edits', '/images/variations', '/audio/transcriptions', '/audio/translations'];

export function addMediaRoutes(add: AddEndpoint, ports: MediaPorts): void {
  for (const path of [...JSON_PATHS, ...FORM_PATHS]) {
    const [, group = ''] = path.split('/');
    const isForm = FORM_PATHS.includes(path);
    add('chat_completions', `/v1${path}`, `/v1${path}`, {
      method: 'post',
      scope: 'generate',
      handler: (isForm ? relayForm : relayJson)(path, ports),
      readsBody: !isForm,
      isLogged: true,
      loggedApi: group,
    });
  }
  add('chat_completions', '/v1/moderations', '/v1/moderations', {
    method: 'post',
    scope: 'generate',
    handler: relayJson('/moderations', ports, (context, body) => moderationModel(context, body, ports.models)),
    isLogged: true,
    loggedApi: 'moderations',
  });
}
