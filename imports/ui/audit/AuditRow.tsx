/** One act: what was done to what, by whom, from where and when. */
import { memo } from 'react';
import type { AuditEntry } from '../../business/ai/domain/types/AuditEntries';
import { Ago } from '../components/Elapsed';
import { StateBadge } from '../components/StateBadge';
import { UserLink } from '../components/User';
import { linkTo } from '../shell/route';
import { ACTION_LABELS, actorLabel, CHANNEL_LABELS, OUTCOME_STYLES } from './auditLabels';

export const AuditRow = memo(function AuditRow({ entry }: { readonly entry: AuditEntry }) {
  const {
    _id,
    at,
    userId,
    action,
    subject,
    tokenId,
    via,
    changed,
    details = {},
    address,
    userAgent,
    outcome,
    error,
  } = entry;
  const { ownerId } = subject;
  const hasOwner = ownerId !== undefined && ownerId !== userId && ownerId !== subject.id;
  const facts = Object.entries(details);
  return (
    <li className="entry audit-entry" data-audit={_id} data-outcome={outcome}>
      <div className="entry-main">
        <p className="entry-title">
          <span>{ACTION_LABELS[action]}</span>
          <Subject subject={subject} />
          {outcome !== 'done' && <StateBadge style={OUTCOME_STYLES[outcome]} />}
        </p>
        <p className="muted entry-facts">
          <span>
            By <span className="audit-actor">{userId === '' ? actorLabel(entry) : <UserLink userId={userId} />}</span>
          </span>
          {userId !== '' && <span>{CHANNEL_LABELS[via]}</span>}
          {tokenId !== undefined && (
            <span>
              Token <code>{tokenId}</code>
            </span>
          )}
          {address !== undefined && <bdi>{address}</bdi>}
          {userAgent !== undefined && (
            <bdi className="audit-agent" title={userAgent}>
              {userAgent}
            </bdi>
          )}
        </p>
        {(hasOwner || error !== undefined || changed !== undefined || facts.length > 0) && (
          <p className="muted entry-facts">
            {hasOwner && (
              <span>
                Of <UserLink userId={ownerId} />
              </span>
            )}
            {error !== undefined && <span>{error}</span>}
            {changed !== undefined && <span>Set: {changed.join(', ')}</span>}
            {facts.map(([name, value]) => (
              <span key={name}>
                {name}: <bdi>{String(value)}</bdi>
              </span>
            ))}
          </p>
        )}
      </div>
      <span className="muted audit-time">
        <Ago at={at} />
      </span>
    </li>
  );
});

function Subject({ subject: { kind, id } }: Pick<AuditEntry, 'subject'>) {
  if (id === undefined) return null;
  const text = <bdi className="audit-subject">{id}</bdi>;
  return kind === 'run' || kind === 'call' ? <a href={linkTo(['runs', id])}>{text}</a> : text;
}
