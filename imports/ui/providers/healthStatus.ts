/** What is shown of a provider's health. Nothing is green without a call that has succeeded lately. */
import type { ProviderHealth } from '../../business/ai/domain/types/ProviderViews';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import type { ReconnectReason } from '../../business/providers/domain/entities/StoredCredential';
import type { IconName } from '../components/Icon';

export interface HealthStatus {
  readonly tone: 'green' | 'red' | 'amber' | 'grey';
  readonly icon: IconName;
  readonly label: string;
}

/** A success is evidence for a day. */
const RECENT_MS = 86_400_000;

const RECONNECT_LABELS: Readonly<Record<ReconnectReason, string>> = {
  refused: 'Needs reconnecting',
  expired: 'Expired: needs reconnecting',
  interrupted: 'Renewal interrupted: needs reconnecting',
};

export function healthStatus(
  { enabled, connected, needsReconnect, reconnectReason = 'refused', auth }: PublicProvider,
  health: ProviderHealth | undefined,
  now: number,
): HealthStatus {
  if (!enabled) return { tone: 'grey', icon: 'stop', label: 'Disabled' };
  if (needsReconnect) return { tone: 'amber', icon: 'hand', label: RECONNECT_LABELS[reconnectReason] };
  if (!connected)
    return {
      tone: 'grey',
      icon: 'plug',
      label: auth.kind === 'oauth_user' ? 'Not connected' : 'No key',
    };
  if (health?.circuit === 'open') return { tone: 'red', icon: 'cross', label: 'Not called: failing' };
  if (health?.circuit === 'probing') return { tone: 'amber', icon: 'hourglass', label: 'Checking' };
  const { lastSuccessAt = 0, lastError } = health ?? {};
  if (lastError !== undefined && lastError.at >= lastSuccessAt)
    return lastError.code === 'rate-limited'
      ? { tone: 'amber', icon: 'hourglass', label: 'Rate limited' }
      : { tone: 'red', icon: 'cross', label: 'Last call failed' };
  if (now - lastSuccessAt < RECENT_MS) return { tone: 'green', icon: 'check', label: 'Working' };
  return { tone: 'grey', icon: 'clock', label: lastSuccessAt === 0 ? 'Not called yet' : 'No recent calls' };
}
