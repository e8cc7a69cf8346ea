/** Stands in for content that is loading. */
export function Skeleton({ what }: { readonly what: string }) {
  return (
    <div className="skeletons" role="status" aria-label={`Loading ${what}`}>
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  );
}
