import { runAreas } from '../groups.ts';

runAreas(['instances'], 1, 3);
