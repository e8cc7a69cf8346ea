/** What people think of a run, and how they label it: rating, comment, tags, and the metadata of its start. */
import { useCallback, useEffect, useState } from 'react';
import type { RunRating, RunView } from '../../business/ai/domain/types/RunViews';
import { FormError } from '../components/FormError';
import { useData } from '../hooks/BolideProvider';
import { Ago } from '../components/Elapsed';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';
import { linkTo } from '../shell/route';
import { TagEditor } from './TagEditor';

/** Fields that were changed here and are not loaded again yet. */
type Changes = Partial<Pick<RunView, 'comment' | 'tags'>> & { readonly rating?: RunRating | null };

export function RunFeedback({ run }: { readonly run: RunView }) {
  const { call } = useData();
  const executionId = run._id;
  const current = useListedRun(executionId) ?? run;
  const [changes, setChanges] = useState<Changes>(NO_CHANGES);
  // What was loaded contains the changes made here, and those of others after them.
  const { rating: storedRating, ratedAt, ratedBy, tags: storedTags = NO_TAGS } = current;
  useEffect(() => setChanges(NO_CHANGES), [ratedAt, storedRating, storedTags]);
  const rating = changes.rating === undefined ? storedRating : (changes.rating ?? undefined);
  const stored = changes.comment ?? current.comment ?? '';
  /** Absent: not edited. */
  const [draft, setDraft] = useState<string>();
  const comment = draft ?? stored;
  const rate = useAction(
    useCallback(
      async (next: RunRating | null, text: string) => {
        const given = text.trim();
        await call('ai.runs.rate', { executionId, rating: next, ...(given === '' ? {} : { comment: given }) });
        setChanges((before) => ({ ...before, rating: next, comment: next === null ? '' : given }));
        setDraft(undefined);
      },
      [call, executionId],
    ),
  );
  const tag = useAction(
    useCallback(
      async (tags: readonly string[]) => {
        const saved = await call('ai.runs.tag', { executionId, tags });
        setChanges((before) => ({ ...before, tags: saved.tags }));
      },
      [call, executionId],
    ),
  );
  const metadata = Object.entries(run.metadata ?? {});
  return (
    <section className="card run-feedback" aria-labelledby="feedback-title">
      <h2 id="feedback-title">Feedback and tags</h2>
      <div className="thumbs" role="group" aria-label="Rating">
        {RATINGS.map(({ value, label, icon }) => (
          <button
            key={value}
            type="button"
            className={`button thumb thumb-${value}`}
            aria-pressed={rating === value}
            disabled={rate.isBusy}
            onClick={() => rate.run(rating === value ? null : value, comment)}
          >
            <Icon name={icon} /> {label}
          </button>
        ))}
        {rating !== undefined && rating === storedRating && ratedAt !== undefined && ratedBy !== undefined && (
          <span className="muted">
            by <bdi>{ratedBy}</bdi>, <Ago at={ratedAt} />
          </span>
        )}
      </div>
      {rating !== undefined && (
        <form
          className="comment-form"
          onSubmit={(event) => {
            event.preventDefault();
            rate.run(rating, comment);
          }}
        >
          <textarea
            rows={2}
            maxLength={2_000}
            dir="auto"
            value={comment}
            onChange={(event) => setDraft(event.target.value)}
            placeholder="What was good or wrong?"
            aria-label="Comment"
          />
          <button type="submit" className="button" disabled={rate.isBusy || comment.trim() === stored}>
            {comment.trim() === stored && stored !== '' ? 'Saved' : 'Save comment'}
          </button>
        </form>
      )}
      <FormError error={rate.error} />
      <TagEditor
        tags={changes.tags ?? storedTags}
        isBusy={tag.isBusy}
        onChange={tag.run}
        linkOf={(name) => linkTo(['runs'], { tag: name })}
      />
      <FormError error={tag.error} />
      {metadata.length > 0 && (
        <dl className="request-facts" aria-label="Metadata">
          {metadata.map(([name, value]) => (
            <div key={name}>
              <dt className="mono">{name}</dt>
              <dd dir="auto">{String(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** The run as it is stored, also once its own events have ended; undefined until it is loaded. */
function useListedRun(executionId: string): RunView | undefined {
  const loaded = useData().useQuery('ai.runs.list', { executionId, limit: 1 });
  return loaded.state === 'ready' ? loaded.value.runs[0] : undefined;
}

const RATINGS = [
  { value: 'up', label: 'Good', icon: 'thumbUp' },
  { value: 'down', label: 'Bad', icon: 'thumbDown' },
] as const;
const NO_TAGS: readonly string[] = [];
const NO_CHANGES: Changes = {};
