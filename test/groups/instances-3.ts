import { runAreas } from '../groups.ts';

runAreas(['instances'], 3, 3);
