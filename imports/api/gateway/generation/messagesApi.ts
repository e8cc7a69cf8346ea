/** `POST /v1/messages`. https://platform.claude.com/docs/en/api/messages */
import {
  readAnthropicRequest,
  writeAnthropic,
} from '../../../business/ai/infrastructure/converters/anthropic/gateway/AnthropicGateway';
import { isVersion } from '../../../business/ai/infrastructure/converters/anthropic/request/headers';
import { SERVER_SENT_EVENTS } from '../../http/ResponseSink';
import type { GatewayApi } from './GatewayApi';

export const messagesApi: GatewayApi = {
  wire: 'anthropic_messages',
  read({ body, headers }) {
    const { stream, ...options } = readAnthropicRequest(body);
    const betas = betasIn(headers['anthropic-beta']);
    const version = headers['anthropic-version'];
    const named = {
      ...(betas.length === 0 ? {} : { betas }),
      ...(isVersion(version) ? { anthropic_version: version } : {}),
    };
    const generateOptions =
      Object.keys(named).length === 0
        ? options
        : { ...options, vendor: { ...options.vendor, anthropic: { ...options.vendor?.anthropic, ...named } } };
    return stream === true ? { options: generateOptions, stream: SERVER_SENT_EVENTS } : { options: generateOptions };
  },
  write: writeAnthropic,
};

/**
 * Beta features are requested by header; without it, the vendor rejects their fields.
 * https://platform.claude.com/docs/en/api/beta-headers
 */
function betasIn(header: string | readonly string[] | undefined): readonly string[] {
  const names = (typeof header === 'string' ? header : (header ?? []).join(',')).split(',').map((name) => name.trim());
  return names.filter((name) => /^[\w.-]{1,100}$/.test(name));
}
