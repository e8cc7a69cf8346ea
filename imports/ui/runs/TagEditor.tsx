/** Adds and removes tags. */
import { useState } from 'react';
import { Icon } from '../components/Icon';

export interface TagEditorProps {
  readonly tags: readonly string[];
  readonly isBusy: boolean;
  readonly onChange: (tags: readonly string[]) => void;
  /** Where a tag leads: the list of everything that has it. */
  readonly linkOf: (tag: string) => string;
}

export function TagEditor({ tags, isBusy, onChange, linkOf }: TagEditorProps) {
  const [draft, setDraft] = useState('');
  const added = draft
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '' && !tags.includes(tag));
  return (
    <div className="tag-editor">
      <ul className="chips" aria-label="Tags">
        {tags.map((tag) => (
          <li key={tag} className="tag-chip">
            <a href={linkOf(tag)} dir="auto">
              {tag}
            </a>
            <button
              type="button"
              disabled={isBusy}
              aria-label={`Remove the tag ${tag}`}
              onClick={() => onChange(tags.filter((each) => each !== tag))}
            >
              <Icon name="cross" />
            </button>
          </li>
        ))}
      </ul>
      <form
        className="tag-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (added.length > 0) onChange([...tags, ...added]);
          setDraft('');
        }}
      >
        <input
          value={draft}
          maxLength={64}
          dir="auto"
          onChange={(event) => setDraft(event.target.value)}
          placeholder="Add a tag"
          aria-label="Add a tag"
        />
        <button type="submit" className="button" disabled={isBusy || added.length === 0}>
          Add
        </button>
      </form>
    </div>
  );
}
