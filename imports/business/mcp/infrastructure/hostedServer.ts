/** What a vendor is told about a server that it calls itself. */
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { HostedMcpServer } from '../../ai/domain/types/HostedMcp';
import type { McpServerSettings } from './McpServerSettings';

type Settings = Pick<McpServerSettings, 'name' | 'url' | 'headers' | 'hosted' | 'shareHeaders'> & {
  /** Whether anybody signs in. */
  readonly oauth?: object | undefined;
};

/** @returns undefined for a server that Bolide calls */
export function hostedServer(settings: Settings): HostedMcpServer | undefined {
  const { name, url, headers = {}, hosted = false, shareHeaders = false } = settings;
  if (!hosted || url === undefined) return undefined;
  const obstacle = obstacleOf(settings);
  return omitUndefined({ name, url: String(url), headers: shareHeaders ? headers : {}, obstacle });
}

function obstacleOf({ headers = {}, oauth, shareHeaders = false }: Settings): string | undefined {
  if (oauth !== undefined) return 'tokens of accounts are never handed to a vendor';
  if (Object.keys(headers).length > 0 && !shareHeaders)
    return 'its headers may not be handed to a vendor ("shareHeaders")';
  return undefined;
}
