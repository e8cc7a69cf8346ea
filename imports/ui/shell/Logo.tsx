/** Bolide's logo, a meteor with its trail. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path
        className="logo-trail"
        d="M28.5 3.5 16.6 11.2a8.2 8.2 0 0 0-3.1 3.6 6.9 6.9 0 0 1 4.6 4.3 8.2 8.2 0 0 0 3.2-3.3z"
      />
      <path className="logo-spark" d="M20.5 4.5 12 9.4M27.7 12.2l-4.6 7.9" />
      <circle className="logo-body" cx="11" cy="21" r="6.5" />
    </svg>
  );
}
