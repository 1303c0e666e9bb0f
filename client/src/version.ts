/** The version of this package, for the header `User-Agent`. */
export const version = '2.0.0';
